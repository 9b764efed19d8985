// SPDX-License-Identifier: Apache-2.0
// Embedders on real exports, with a tokenizer of a few words beside them.
#include "modelrun/embedder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "modelrun/error.h"
#include "modelrun/log.h"
#include "support/fake_folder.h"
#include "support/golden.h"

namespace modelrun::testing {
namespace {

constexpr const char* kTokenizer = R"({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false,
    "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
  "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": null, "decoder": null,
  "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {
    "[PAD]": 0, "[UNK]": 1, "a": 2, "b": 3, "c": 4, "d": 5, "query:": 6}}
})";
constexpr const char* kTokenizerConfig = R"({
  "tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]",
  "unk_token": "[UNK]", "model_max_length": 9})";

// A copy of an export with a tokenizer.
class EmbedderTest : public ::testing::Test {
 protected:
  void copy(const std::string& name) {
    std::filesystem::copy(fixture(name).path, folder_.path(),
                          std::filesystem::copy_options::recursive);
    folder_.write("tokenizer.json", kTokenizer);
    folder_.write("tokenizer_config.json", kTokenizerConfig);
  }

  void add_modules(const std::string& pooling, bool normalize) {
    folder_.write("modules.json",
                  std::string(R"([{"idx": 0, "name": "0", "path": "",
      "type": "sentence_transformers.models.Transformer"},
     {"idx": 1, "name": "1", "path": "1_Pooling",
      "type": "sentence_transformers.models.Pooling"})") +
                      (normalize ? R"(, {"idx": 2, "name": "2", "path": "2",
      "type": "sentence_transformers.models.Normalize"}])"
                                 : "]"));
    if (normalize) std::filesystem::create_directory(folder_.path() / "2");
    folder_.write("1_Pooling/config.json", pooling);
  }

  // The mean of a text's hidden states, the text alone in its batch.
  static std::vector<float> mean_of(const ExportedModel& model,
                                    const std::vector<std::int64_t>& ids) {
    const auto length = static_cast<std::int64_t>(ids.size());
    const std::vector<std::int64_t> ones(ids.size(), 1);
    const Outputs outputs = model(
        {{"input_ids", Tensor::from<std::int64_t>(std::span(ids), {1, length})},
         {"attention_mask",
          Tensor::from<std::int64_t>(std::span(ones), {1, length})}});
    const Tensor hidden = outputs["last_hidden_state"].tensor();
    const auto width = static_cast<std::size_t>(hidden.shape()[2]);
    std::vector<float> mean(width);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        mean[k] += hidden.data<float>()[i * width + k] /
                   static_cast<float>(ids.size());
      }
    }
    return mean;
  }

  static void expect_row(const Tensor& vectors, std::size_t row,
                         const std::vector<float>& expected) {
    ASSERT_EQ(vectors.shape()[1], static_cast<std::int64_t>(expected.size()));
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_NEAR(vectors.data<float>()[row * expected.size() + k], expected[k],
                  1e-5)
          << "row " << row << ", column " << k;
    }
  }

  FakeFolder folder_;
};

TEST_F(EmbedderTest, EachTextIsEmbeddedAsItWouldBeAloneAndInItsOrder) {
  copy("bert");
  const auto embedder = Embedder::from_pretrained(folder_.path());
  std::vector<std::size_t> seen;
  const Tensor vectors =
      embedder({"a", "a b c d", "b c", "d"},
               {.batch_size = 3, .progress = [&](auto done, auto total) {
                  seen.push_back(done);
                  EXPECT_EQ(total, 4u);
                }});
  EXPECT_EQ(seen, (std::vector<std::size_t>{3, 4}));
  expect_row(vectors, 0, mean_of(embedder.model(), {2}));
  expect_row(vectors, 1, mean_of(embedder.model(), {2, 3, 4, 5}));
  expect_row(vectors, 2, mean_of(embedder.model(), {3, 4}));
  expect_row(vectors, 3, mean_of(embedder.model(), {5}));
}

TEST_F(EmbedderTest, NothingIsWarnedOfKwargsThatTheModelDoesNotTake) {
  copy("bert");
  std::vector<std::string> warnings;
  set_log_callback(
      [&](LogLevel, std::string_view line) { warnings.emplace_back(line); });
  (void)Embedder::from_pretrained(folder_.path())({"a", "b c"});
  set_log_callback({});
  EXPECT_EQ(warnings, std::vector<std::string>());
}

TEST_F(EmbedderTest, PoolingNormalizationAndPromptComeFromTheConfigs) {
  copy("bert");
  add_modules(R"({"word_embedding_dimension": 32,
                  "pooling_mode_cls_token": false,
                  "pooling_mode_mean_tokens": true})",
              true);
  folder_.write("config_sentence_transformers.json",
                R"({"prompts": {"query": "query: "},
                    "default_prompt_name": "query"})");
  const auto embedder = Embedder::from_pretrained(folder_.path());
  const Tensor vectors = embedder({"a b"});
  auto expected = mean_of(embedder.model(), {6, 2, 3});
  float length = 0;
  for (const float x : expected) length += x * x;
  for (float& x : expected) x /= std::sqrt(length);
  expect_row(vectors, 0, expected);
}

TEST_F(EmbedderTest, LongTextsAreCutAtTheSmallestLimit) {
  copy("bert");
  EXPECT_EQ(Embedder::from_pretrained(folder_.path()).max_length(), 9);
  add_modules(R"({"word_embedding_dimension": 32})", false);
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 2})");
  const auto embedder = Embedder::from_pretrained(folder_.path());
  EXPECT_EQ(embedder.max_length(), 2);
  expect_row(embedder({"a b c d"}), 0, mean_of(embedder.model(), {2, 3}));
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 4096})");
  // As many as the model has positions for.
  EXPECT_EQ(Embedder::from_pretrained(folder_.path()).max_length(), 64);
}

TEST_F(EmbedderTest, AProgramOfFixedShapesIsFedExactlyThose) {
  copy("bert-static");
  const auto embedder = Embedder::from_pretrained(folder_.path());
  const Tensor three = embedder({"a b", "c", "d a b c"});
  const Tensor one = embedder({"c"});
  ASSERT_EQ(three.shape(), Shape({3, 32}));
  for (std::size_t k = 0; k < 32; ++k) {
    ASSERT_NEAR(three.data<float>()[32 + k], one.data<float>()[k], 1e-5);
  }
}

TEST_F(EmbedderTest, AProgramFileFindsTheConfigsBesideItOrAboveIt) {
  copy("bert");
  const auto expected = Embedder::from_pretrained(folder_.path())({"a b"});
  const auto beside =
      Embedder::from_pretrained(folder_.path() / "model.onnx")({"a b"});
  EXPECT_TRUE(equal(beside, expected));
  std::filesystem::create_directory(folder_.path() / "onnx");
  for (const char* name : {"model.onnx", "model.onnx.data"}) {
    std::filesystem::rename(folder_.path() / name,
                            folder_.path() / "onnx" / name);
  }
  const auto above =
      Embedder::from_pretrained(folder_.path() / "onnx/model.onnx")({"a b"});
  EXPECT_TRUE(equal(above, expected));
  std::filesystem::remove(folder_.path() / "export.json");
  const auto below =
      Embedder::from_pretrained(folder_.path(), {.subfolder = "onnx"})({"a b"});
  EXPECT_TRUE(equal(below, expected));
}

TEST_F(EmbedderTest, NoTextGivesNoRows) {
  copy("bert");
  const Tensor none =
      Embedder::from_pretrained(folder_.path())(std::vector<std::string>());
  EXPECT_EQ(none.shape()[0], 0);
}

TEST_F(EmbedderTest, BadTextAndOptionsAreRefused) {
  copy("bert");
  const auto embedder = Embedder::from_pretrained(folder_.path());
  EXPECT_THROW((void)embedder({"a", "\xff"}), InvalidArgument);
  EXPECT_THROW((void)embedder({"a"}, {.batch_size = 0}), InvalidArgument);
}

TEST_F(EmbedderTest, AnExportWithoutTokenizerNamesTheMissingFile) {
  copy("bert");
  std::filesystem::remove(folder_.path() / "tokenizer.json");
  try {
    (void)Embedder::from_pretrained(folder_.path());
    FAIL() << "nothing was thrown";
  } catch (const NotFound& error) {
    EXPECT_NE(std::string(error.what()).find("tokenizer.json"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace modelrun::testing
