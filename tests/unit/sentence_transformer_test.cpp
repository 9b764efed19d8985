// SPDX-License-Identifier: Apache-2.0
#include "text/sentence_transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Mask = std::vector<std::int64_t>;

constexpr auto kModules = R"([
  {"idx": 0, "name": "0", "path": "",
   "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling",
   "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize",
   "type": "sentence_transformers.models.Normalize"}])";

template <typename Failure, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Failure& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

class SentenceTransformer : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::path(testing::TempDir()) /
                 (std::string("modelrun_sentence_") + test->name());
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "1_Pooling");
    write("modules.json", kModules);
    write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const char* name, const std::string& text) {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] SentenceTransformerConfig load() const {
    return load_sentence_transformer(directory_);
  }
  [[nodiscard]] std::string shown(const char* name) const {
    return (directory_ / name).string() + ": ";
  }

  fs::path directory_;
};

TEST_F(SentenceTransformer, LayoutOfAPublishedModelIsRead) {
  write("1_Pooling/config.json", R"({"word_embedding_dimension": 384,
      "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true,
      "pooling_mode_max_tokens": false,
      "pooling_mode_mean_sqrt_len_tokens": false})");
  write("sentence_bert_config.json",
        R"({"max_seq_length": 256, "do_lower_case": false})");
  write("config_sentence_transformers.json",
        R"({"__version__": {"sentence_transformers": "2.0.0"}})");
  write("config.json", R"({"max_position_embeddings": 512})");
  const auto config = load();
  EXPECT_EQ(config.transformer, directory_);
  EXPECT_EQ(config.pooling_modes, std::vector{PoolingMode::mean});
  EXPECT_TRUE(config.normalize);
  EXPECT_TRUE(config.include_prompt);
  EXPECT_EQ(config.embedding_dimension, 384);
  EXPECT_EQ(config.max_seq_length, 256);
  EXPECT_FALSE(config.do_lower_case);
  EXPECT_EQ(config.similarity_fn_name, "cosine");
  EXPECT_TRUE(config.prompts.empty());
  EXPECT_EQ(max_sequence_length(config, 128), 256);
}

TEST_F(SentenceTransformer, LayoutOfRelease6IsRead) {
  write("modules.json", R"([
    {"idx": 0, "name": "0", "path": "0_Transformer", "type":
     "sentence_transformers.base.modules.transformer.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type":
     "sentence_transformers.sentence_transformer.modules.pooling.Pooling"}])");
  write("1_Pooling/config.json", R"({"embedding_dimension": 8,
      "pooling_mode": ["lasttoken", "cls"], "include_prompt": false})");
  write("0_Transformer/sentence_bert_config.json",
        R"({"transformer_task": "feature-extraction",
            "module_output_name": "token_embeddings"})");
  write("0_Transformer/config.json", R"({"max_position_embeddings": 40})");
  write("config_sentence_transformers.json",
        R"({"model_type": "SentenceTransformer",
            "prompts": {"query": "query: ", "document": null},
            "default_prompt_name": "query", "similarity_fn_name": "dot"})");
  const auto config = load();
  EXPECT_EQ(config.transformer, directory_ / "0_Transformer");
  EXPECT_EQ(config.pooling_modes,
            (std::vector{PoolingMode::lasttoken, PoolingMode::cls}));
  EXPECT_FALSE(config.include_prompt);
  EXPECT_FALSE(config.normalize);
  EXPECT_EQ(config.embedding_dimension, 8);
  EXPECT_EQ(config.prompts.at("query"), "query: ");
  EXPECT_EQ(config.prompts.at("document"), "");
  EXPECT_EQ(config.default_prompt_name, "query");
  EXPECT_EQ(config.similarity_fn_name, "dot");
  EXPECT_EQ(max_sequence_length(config, std::nullopt), 40);
  EXPECT_EQ(max_sequence_length(config, 64), 40);
  EXPECT_EQ(max_sequence_length(config, 32), 32);
}

TEST_F(SentenceTransformer, LegacyModesKeepTheOrderOfTheirOutputs) {
  write("1_Pooling/config.json", R"({"pooling_mode_lasttoken": true,
      "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true})");
  EXPECT_EQ(load().pooling_modes,
            (std::vector{PoolingMode::max, PoolingMode::mean,
                         PoolingMode::lasttoken}));
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": false})");
  EXPECT_EQ(load().pooling_modes, std::vector{PoolingMode::mean});
}

TEST_F(SentenceTransformer, OlderFileNameOfTheTransformerIsFound) {
  write("sentence_xlm-roberta_config.json",
        R"({"max_seq_length": 77, "do_lower_case": true})");
  EXPECT_EQ(load().max_seq_length, 77);
  EXPECT_TRUE(load().do_lower_case);
}

TEST_F(SentenceTransformer, OtherModulesAreUnsupportedByName) {
  write("modules.json", R"([
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
  constexpr auto kRest =
      "; modelrun runs Transformer, Pooling and then, optionally, Normalize of "
      "sentence_transformers";
  EXPECT_EQ(message_of<Unsupported>([&] { (void)load(); }),
            std::string("cannot embed: module 2 is "
                        "'sentence_transformers.models.Dense'") +
                kRest);
  write("modules.json", R"([{"path": "", "type": "custom_st.Transformer"}])");
  EXPECT_EQ(
      message_of<Unsupported>([&] { (void)load(); }),
      std::string("cannot embed: module 0 is 'custom_st.Transformer'") + kRest);
  write("modules.json", R"([
    {"path": "", "type": "sentence_transformers.models.Transformer"}])");
  EXPECT_EQ(message_of<Unsupported>([&] { (void)load(); }),
            std::string("cannot embed: module 1 is missing") + kRest);
}

TEST_F(SentenceTransformer, OtherKindsOfModelAreUnsupported) {
  write("config_sentence_transformers.json",
        R"({"model_type": "SparseEncoder"})");
  EXPECT_EQ(message_of<Unsupported>([&] { (void)load(); }),
            shown("config_sentence_transformers.json") +
                "model_type: modelrun runs 'SentenceTransformer', got "
                "'SparseEncoder'");
  fs::remove(directory_ / "config_sentence_transformers.json");
  write("2_Normalize/config.json",
        R"({"module_input_name": "token_embeddings"})");
  EXPECT_EQ(message_of<Unsupported>([&] { (void)load(); }),
            shown("2_Normalize/config.json") +
                "module_input_name: modelrun runs 'sentence_embedding', got "
                "'token_embeddings'");
}

TEST_F(SentenceTransformer, PathsThatLeaveTheDirectoryAreRefused) {
  for (const char* path : {"../1_Pooling", "/etc", "a/../../x", "a\\\\b",
                           "C:\\\\x", "x\\u0000y"}) {
    write("modules.json",
          std::string(R"([{"type": "sentence_transformers.models.Transformer",
                          "path": ")") +
              path + "\"}]");
    const auto message = message_of<InvalidArgument>([&] { (void)load(); });
    EXPECT_EQ(message.find(shown("modules.json") + "module 0: path: "), 0U)
        << message;
  }
}

TEST_F(SentenceTransformer, WrongFieldsNameFileAndField) {
  struct Case {
    const char* file;
    const char* content;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"modules.json", "{}", "expected a list of modules, got an object"},
      {"modules.json", "[]", "expected a list of modules, got an array of 0"},
      {"modules.json", "[3]", "module 0: expected an object, got the number 3"},
      {"modules.json", R"([{"type": 3, "path": ""}])",
       "module 0: type: expected a string, got the number 3"},
      {"modules.json", R"([{"type": "x"}])",
       "module 0: path: expected a string, got null"},
      {"1_Pooling/config.json", R"({"pooling_mode": "median"})",
       "pooling_mode: expected one or more of cls, max, mean, "
       "mean_sqrt_len_tokens, weightedmean, lasttoken, got the string "
       "'median'"},
      {"1_Pooling/config.json", R"({"pooling_mode_cls_token": "yes"})",
       "pooling_mode_cls_token: expected true or false, got the string 'yes'"},
      {"1_Pooling/config.json", R"({"embedding_dimension": -1})",
       "embedding_dimension: expected a positive integer, got the number -1"},
      {"sentence_bert_config.json", R"({"max_seq_length": "256"})",
       "max_seq_length: expected an integer, got the string '256'"},
      {"config_sentence_transformers.json", R"({"prompts": {"a": 1}})",
       "prompts: expected an object of strings, got the number 1"},
      {"config_sentence_transformers.json", R"({"default_prompt_name": "q"})",
       "default_prompt_name: expected the name of one of its prompts, got the "
       "string 'q'"},
      {"config_sentence_transformers.json", R"({"similarity_fn_name": "l1"})",
       "similarity_fn_name: expected cosine, dot, euclidean or manhattan, got "
       "the string 'l1'"},
  };
  for (const auto& [file, content, expected] : cases) {
    SetUp();
    write(file, content);
    EXPECT_EQ(message_of<InvalidArgument>([&] { (void)load(); }),
              shown(file) + expected);
  }
}

TEST_F(SentenceTransformer, MissingFilesAreNamed) {
  fs::remove(directory_ / "1_Pooling/config.json");
  EXPECT_EQ(message_of<NotFound>([&] { (void)load(); }),
            "cannot embed: the pooling's " +
                (directory_ / "1_Pooling/config.json").string() +
                " is missing");
  EXPECT_TRUE(is_sentence_transformer(directory_));
  fs::remove(directory_ / "modules.json");
  EXPECT_FALSE(is_sentence_transformer(directory_));
  EXPECT_THROW((void)load(), NotFound);
}

Mask flat_mask(const json& rows) {
  Mask mask;
  for (const auto& row : rows) {
    for (const auto& on : row) mask.push_back(on.get<std::int64_t>());
  }
  return mask;
}

void expect_close(const std::vector<float>& got, const json& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (expected[i].is_null()) {
      EXPECT_FALSE(std::isfinite(got[i])) << i;
    } else {
      EXPECT_NEAR(got[i], expected[i].get<float>(), 1e-6F) << i;
    }
  }
}

TEST(Pooling, NumbersAreThoseOfSentenceTransformers) {
  std::ifstream file(fs::path(MODELRUN_TEST_SUPPORT) /
                     "tokenizers/pooling.json");
  const auto goldens = json::parse(file);
  const auto values = goldens.at("values").get<std::vector<float>>();
  ASSERT_GT(goldens.at("cases").size(), 40U);
  for (const auto& golden : goldens.at("cases")) {
    SCOPED_TRACE(golden.at("mask").dump() + golden.at("modes").dump() +
                 golden.at("prompt_length").dump());
    const auto mask =
        flat_mask(goldens.at("masks").at(golden.at("mask").get<std::string>()));
    std::vector<PoolingMode> modes;
    for (const auto& name : golden.at("modes")) {
      modes.push_back(pooling_mode(name.get<std::string>()).value());
    }
    auto pooled = pool({.values = values,
                        .attention_mask = mask,
                        .batch = goldens.at("shape")[0],
                        .sequence = goldens.at("shape")[1],
                        .hidden = goldens.at("shape")[2]},
                       modes, golden.at("prompt_length"));
    expect_close(pooled, golden.at("pooled"));
    normalize(pooled, goldens.at("shape")[2].get<std::int64_t>() *
                          static_cast<std::int64_t>(modes.size()));
    expect_close(pooled, golden.at("normalized"));
  }
}

TEST(Pooling, NanOfPaddingDoesNotSpreadToTheEmbedding) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {nan, nan, 1, 2, 3, 4};
  const Mask mask = {0, 1, 1};
  const std::vector modes = {PoolingMode::cls,          PoolingMode::max,
                             PoolingMode::mean,         PoolingMode::mean,
                             PoolingMode::weightedmean, PoolingMode::lasttoken};
  const auto pooled = pool({.values = values,
                            .attention_mask = mask,
                            .batch = 1,
                            .sequence = 3,
                            .hidden = 2},
                           modes);
  for (const float value : pooled) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(pooled[4], 2.0F);
  EXPECT_EQ(pooled[5], 3.0F);
}

TEST(Pooling, NanOfATokenThatCountsStaysVisible) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {nan, 1};
  const Mask mask = {1, 1};
  for (const auto mode : {PoolingMode::max, PoolingMode::mean}) {
    const auto pooled = pool({.values = values,
                              .attention_mask = mask,
                              .batch = 1,
                              .sequence = 2,
                              .hidden = 1},
                             std::vector{mode});
    EXPECT_TRUE(std::isnan(pooled[0]));
  }
}

TEST(Pooling, SizesThatDoNotFitAreRefused) {
  const std::vector<float> values(6);
  const Mask mask = {1, 1};
  const std::vector modes = {PoolingMode::mean};
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              (void)pool({.values = values,
                          .attention_mask = mask,
                          .batch = 1,
                          .sequence = 3,
                          .hidden = 2},
                         modes);
            }),
            "cannot pool: token embeddings [1, 3, 2] do not go with an "
            "attention_mask of 2 and 6 values");
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              (void)pool({.batch = 1, .sequence = 0, .hidden = 2}, modes);
            }),
            "cannot pool: expected token embeddings of at least one token, got "
            "[1, 0, 2]");
}

TEST(Pooling, NormalizeLeavesAZeroRowAndDividesTheOthers) {
  std::vector<float> rows = {3, 4, 0, 0, 1e-20F, 0};
  normalize(rows, 2);
  EXPECT_FLOAT_EQ(rows[0], 0.6F);
  EXPECT_FLOAT_EQ(rows[1], 0.8F);
  EXPECT_EQ(rows[2], 0.0F);
  EXPECT_FLOAT_EQ(rows[4], 1e-8F);
  EXPECT_THROW(normalize(rows, 4), InvalidArgument);
}

}  // namespace
}  // namespace modelrun::detail
