// SPDX-License-Identifier: Apache-2.0
// Outputs and caches of real exports: what is there, of which type, where, and
// whose memory.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "dlpack/dlpack.h"
#include "integration/onnxruntime_graph.h"
#include "support/exports.h"
#include "support/fake_folder.h"
#include "support/tensor_difference.h"

namespace modelrun::testing {
namespace {

namespace ort = onnxruntime_test;

TEST(FieldOutputs, ConfigThatPromisesMoreChangesNothing) {
  const FakeFolder folder;
  const auto source = fixture("bert").path;
  for (const auto& entry : std::filesystem::directory_iterator(source)) {
    std::filesystem::copy(entry.path(), folder.path());
  }
  std::ifstream file(source / "config.json");
  auto config = nlohmann::ordered_json::parse(file);
  config["output_hidden_states"] = true;
  config["output_attentions"] = true;
  folder.write("config.json", config.dump());
  const auto model = ExportedModel::from_pretrained(folder.path());
  EXPECT_TRUE(model.config()["output_hidden_states"].as<bool>());
  const Outputs outputs = call(model, kwargs_of("bert", "batch1"));
  EXPECT_EQ(outputs.keys(),
            (std::vector<std::string>{"last_hidden_state", "pooler_output"}));
  EXPECT_FALSE(outputs.contains("hidden_states"));
  EXPECT_TRUE(message_of<NotFound>([&] {
                (void)outputs["hidden_states"];
              }).starts_with("no 'hidden_states' in "))
      << message_of<NotFound>([&] { (void)outputs["hidden_states"]; });
}

TEST(FieldOutputs, HiddenStatesAndAttentionsAreReachableByName) {
  const auto model = open_export("bert-hidden-states");
  const Outputs outputs =
      call(model, kwargs_of("bert-hidden-states", "padded"));
  EXPECT_EQ(outputs.keys(),
            (std::vector<std::string>{"last_hidden_state", "pooler_output",
                                      "hidden_states", "attentions",
                                      "cross_attentions"}));
  EXPECT_EQ(outputs["cross_attentions"].kind(), Structure::Kind::tuple);
  EXPECT_EQ(outputs["cross_attentions"].size(), 0u);
  EXPECT_EQ(outputs["hidden_states"].size(), 3u);
  EXPECT_EQ(outputs["attentions"].size(), 2u);
  EXPECT_TRUE(equal(outputs["hidden_states.2"].tensor(),
                    outputs["last_hidden_state"].tensor()));
  EXPECT_TRUE(equal(outputs[2][1].tensor(),
                    outputs.at("hidden_states").at("1").tensor()));
}

TEST(FieldOutputs, HeadThatNoClassKnowsIsReachableByName) {
  const FakeFolder folder;
  const auto floats = ort::tensor_type(ort::kFloat, {std::string("n")});
  const auto file = folder.write(
      "model.onnx",
      ort::Graph{.inputs = {{"x", floats}},
                 .outputs = {{"logits", floats}, {"my head/0:1", floats}},
                 .nodes = {{"Neg", {"x"}, {"logits"}},
                           {"Abs", {"x"}, {"my head/0:1"}}}}
          .text());
  const auto model = ExportedModel::from_pretrained(file);
  const Outputs outputs = model({{"x", Tensor::from<float>({-2, 3}, {2})}});
  EXPECT_EQ(outputs.keys(),
            (std::vector<std::string>{"logits", "my head/0:1"}));
  EXPECT_TRUE(
      equal(outputs["my head/0:1"].tensor(), Tensor::from<float>({2, 3}, {2})));
}

TEST(FieldOutputs, ConstantsStandAtTheirPlacesWithTheirTypes) {
  const auto model = open_export("oddities");
  for (const bool share : {false, true}) {
    const Outputs outputs =
        call(model, kwargs_of("oddities", "batch3"), {.share_outputs = share});
    EXPECT_EQ(
        outputs.keys(),
        (std::vector<std::string>{
            "scores", "is_large", "number", "ratio", "flag", "label", "sizes",
            "token_ids", "scores_again", "by_layer", "states", "total"}));
    EXPECT_EQ(outputs["number"].scalar(), Scalar(std::int64_t{7}));
    EXPECT_EQ(outputs["ratio"].scalar(), Scalar(2.5));
    EXPECT_EQ(outputs["flag"].scalar(), Scalar(true));
    EXPECT_EQ(outputs["label"].scalar(), Scalar(std::string("odd")));
    EXPECT_EQ(outputs["sizes"].kind(), Structure::Kind::tuple);
    EXPECT_EQ(outputs["sizes"][1].as<std::int64_t>(), 4);
    EXPECT_TRUE(outputs["states"][1].is_none());
    EXPECT_EQ(outputs["states"][2].kind(), Structure::Kind::list);
    EXPECT_FALSE(outputs["states"][2][1].as<bool>());
    EXPECT_EQ(outputs["token_ids"].tensor().dtype(), DType::int64);
    EXPECT_EQ(outputs["total"].tensor().rank(), 0u);
  }
}

TEST(FieldOutputs, IntegerKeysStayIntegers) {
  const auto odd =
      call(open_export("oddities"), kwargs_of("oddities", "batch1"));
  const Structure& layers = *odd["by_layer"].structure();
  EXPECT_EQ(layers.key(1), Structure::Key(std::int64_t{1}));
  const auto decoder = open_export("t5-generation").component("decode");
  const auto outputs =
      call(decoder, kwargs_of("t5-generation", "batch1-decode1"));
  const Value updated = outputs["past_key_values.is_updated"];
  ASSERT_EQ(updated.size(), 2u);
  EXPECT_EQ(updated.structure()->key(0), Structure::Key(std::int64_t{0}));
}

TEST(FieldOutputs, BooleansStayBooleansAlsoOverDlpack) {
  const auto model = open_export("oddities");
  const NamedValues kwargs = kwargs_of("oddities", "batch3");
  EXPECT_EQ(tensor_of(kwargs, "keep").dtype(), DType::bool_);
  const Tensor large = call(model, kwargs)["is_large"].tensor();
  EXPECT_EQ(large.dtype(), DType::bool_);
  DLManagedTensorVersioned* const managed = large.to_dlpack();
  EXPECT_EQ(managed->dl_tensor.dtype.code, kDLBool);
  EXPECT_EQ(managed->dl_tensor.dtype.bits, 8);
  EXPECT_TRUE(equal(Tensor::from_dlpack(managed), large));
  const Tensor bytes =
      Tensor::zeros(DType::uint8, tensor_of(kwargs, "keep").shape());
  EXPECT_EQ(refusal(model, with(kwargs, "keep", bytes)),
            "input 'keep' has the wrong dtype: expected bool[s18, s22], got "
            "uint8[3, 5]: convert it before the call");
}

TEST(FieldOutputs, ReturnedInputKeepsBothNamesFromCallToCall) {
  const auto model = open_export("oddities");
  const NamedValues kwargs = kwargs_of("oddities", "batch1");
  for (int i = 0; i < 3; ++i) {
    const Outputs outputs = call(model, kwargs, {.share_outputs = i == 2});
    EXPECT_TRUE(
        equal(outputs["token_ids"].tensor(), tensor_of(kwargs, "token_ids")));
    EXPECT_TRUE(
        equal(outputs["scores_again"].tensor(), outputs["scores"].tensor()));
  }
}

TEST(FieldOutputs, TensorReturnedTwiceIsTwoBuffers) {
  const auto model = open_export("oddities");
  const Outputs outputs = call(model, kwargs_of("oddities", "batch1"));
  const Tensor scores = outputs["scores"].tensor();
  const Tensor before = outputs["scores_again"].tensor().clone();
  scores.data<float>()[0] += 1;
  EXPECT_TRUE(equal(outputs["scores_again"].tensor(), before));
}

TEST(FieldOutputs, CacheFedBackWhileAViewIsHeldStaysAsItWas) {
  const auto model = open_export("llama-decode");
  const NamedValues first = kwargs_of("llama-decode", "batch3-past6-step0");
  const NamedValues second = kwargs_of("llama-decode", "batch3-past6-step1");
  for (const bool share : {false, true}) {
    SCOPED_TRACE(share);
    const CallOptions options{.share_outputs = share};
    const Outputs before = call(model, first, options);
    std::vector<Tensor> views;
    std::vector<Tensor> copies;
    for (const auto& leaf : before["past_key_values"].leaves()) {
      views.push_back(leaf.second);
      copies.push_back(leaf.second.clone());
    }
    const NamedValues next =
        with(second, "past_key_values", before["past_key_values"]);
    const Tensor logits = call(model, next, options)["logits"].tensor();
    EXPECT_EQ(
        tensor_difference(logits, call(model, second)["logits"].tensor(), 1e-5),
        "");
    for (std::size_t i = 0; i < views.size(); ++i) {
      EXPECT_TRUE(equal(views[i], copies[i])) << i;
    }
  }
}

TEST(FieldOutputs, CrossAttentionCacheIsCarriedOverUnchanged) {
  const auto model = open_export("t5-generation").component("decode");
  NamedValues kwargs = kwargs_of("t5-generation", "padded-decode1");
  Value given;
  for (const auto& [name, value] : kwargs) {
    if (name == "past_key_values") given = value;
  }
  for (std::int64_t step = 2; step < 6; ++step) {
    SCOPED_TRACE(step);
    const Value returned = call(model, kwargs)["past_key_values"];
    for (const auto& [path, tensor] : given.leaves()) {
      if (path.starts_with("cross_attention_cache")) {
        EXPECT_TRUE(equal(returned[path].tensor(), tensor)) << path;
      } else {
        EXPECT_EQ(returned[path].tensor().shape()[2], tensor.shape()[2] + 1)
            << path;
      }
    }
    given = returned;
    kwargs = with(kwargs, "past_key_values", returned);
  }
}

TEST(FieldOutputs, CacheThatIsPassedIsUsed) {
  const auto model = open_export("llama-decode");
  const NamedValues kwargs = kwargs_of("llama-decode", "batch1-past3-step0");
  const Tensor logits = call(model, kwargs)["logits"].tensor();
  for (const auto& [name, value] : kwargs) {
    if (name != "past_key_values") continue;
    for (const auto& [path, tensor] : value.leaves()) {
      SCOPED_TRACE(path);
      NamedValues leaves = without(kwargs, name);
      for (const auto& [other, same] : value.leaves()) {
        leaves.emplace_back(name + "." + other, same.clone());
      }
      const Tensor changed = tensor_of(leaves, name + "." + path);
      for (float& element : changed.data<float>()) element += 2;
      EXPECT_NE(tensor_difference(call(model, leaves)["logits"].tensor(),
                                  logits, 1e-3),
                "");
    }
  }
}

TEST(FieldOutputs, NothingIsLeftOverFromTheSequenceBefore) {
  const auto model = open_export("llama-generation").component("prefill");
  const NamedValues a = kwargs_of("llama-generation", "batch1-prefill");
  const NamedValues b = kwargs_of("llama-generation", "padded-prefill");
  for (const bool share : {false, true}) {
    const CallOptions options{.share_outputs = share};
    const Tensor first = call(model, a, options)["logits"].tensor().clone();
    (void)call(model, b, options);
    EXPECT_TRUE(equal(call(model, a, options)["logits"].tensor(), first));
  }
}

bool is_finite(const Tensor& tensor) {
  for (const double value : as_doubles(tensor)) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

TEST(FieldOutputs, RowThatIsAllPaddingDoesNotSpread) {
  for (const std::string name : {"bert", "llama"}) {
    SCOPED_TRACE(name);
    const auto model = open_export(name);
    const Tensor mask = int64s({2, 5}, 1);
    for (std::size_t i = 5; i < 10; ++i) mask.data<std::int64_t>()[i] = 0;
    const Tensor both =
        model({{"input_ids", token_ids({2, 5})}, {"attention_mask", mask}})[0]
            .tensor();
    const Tensor alone = model({{"input_ids", token_ids({1, 5})},
                                {"attention_mask", int64s({1, 5}, 1)}})[0]
                             .tensor();
    const Tensor row = Tensor::view(
        both.raw_data(), {.dtype = both.dtype(), .shape = alone.shape()},
        both.owner());
    EXPECT_TRUE(is_finite(row));
    EXPECT_EQ(tensor_difference(row, alone, 1e-5), "");
  }
}

TEST(FieldOutputs, EmptyOutputHasItsShapeAndDtype) {
  const auto model = open_graph("empty_output.onnx");
  for (const bool share : {false, true, true}) {
    const Tensor y = model({{"x", Tensor::zeros(DType::float32, {3, 3})}},
                           {.share_outputs = share})[0]
                         .tensor();
    EXPECT_EQ(y.shape(), (Shape{2, 0}));
    EXPECT_EQ(y.dtype(), DType::int64);
  }
}

}  // namespace
}  // namespace modelrun::testing
