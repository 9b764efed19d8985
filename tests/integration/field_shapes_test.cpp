// SPDX-License-Identifier: Apache-2.0
// Shapes as people call real exports with: other than traced, empty, growing,
// shrinking, and wrong deep inside a cache.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "support/exports.h"
#include "support/fake_folder.h"
#include "support/tensor_difference.h"

namespace modelrun::testing {
namespace {

NamedValues bert_kwargs(const Shape& shape, std::int64_t seed = 0) {
  return {{"input_ids", token_ids(shape, seed)},
          {"attention_mask", int64s(shape, 1)}};
}

// The rows or positions [begin, end) of an axis, as a copy.
Tensor narrow(const Tensor& tensor, std::size_t axis, std::int64_t begin,
              std::int64_t end) {
  Shape shape = tensor.shape();
  Shape strides = Shape::of_rank(shape.rank());
  std::int64_t stride = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  const std::int64_t offset = begin * strides[axis];
  shape[axis] = end - begin;
  auto* const data =
      static_cast<std::byte*>(tensor.raw_data()) +
      offset * static_cast<std::int64_t>(bits(tensor.dtype()) / 8);
  return Tensor::view(
             data,
             {.dtype = tensor.dtype(), .shape = shape, .strides = strides})
      .clone();
}

// A cache of two layers without positions; `data` may be null.
Value empty_cache(DType dtype, std::int64_t batch, const void* data) {
  const Tensor none =
      Tensor::view(data, {.dtype = dtype, .shape = {batch, 2, 0, 8}});
  std::vector<Value> layers;
  for (int i = 0; i < 2; ++i) {
    layers.push_back(Value::mapping({{"keys", none}, {"values", none}}));
  }
  return Value::mapping({{"layers", Value::sequence(std::move(layers))}});
}

TEST(FieldShapes, BatchThatIsNotTheFixedOneIsRefused) {
  const auto model = open_export("bert-static");
  EXPECT_EQ(refusal(model, bert_kwargs({3, 8})),
            "input 'input_ids' has the wrong shape: expected int64[2, 8], got "
            "[3, 8] (axis 0 is fixed to 2 in this export)");
}

TEST(FieldShapes, GraphWinsOverAManifestThatSaysDynamic) {
  const FakeFolder folder;
  const auto source = fixture("bert-static").path;
  for (const auto& entry : std::filesystem::directory_iterator(source)) {
    std::filesystem::copy(entry.path(), folder.path());
  }
  std::ifstream file(source / "export.json");
  auto manifest = nlohmann::ordered_json::parse(file);
  manifest["components"]["model"]["metadata"]["export_config"]["dynamic"] =
      true;
  folder.write("export.json", manifest.dump());
  const Warnings warnings;
  const auto model = ExportedModel::from_pretrained(folder.path());
  // The runtime may have warned before.
  ASSERT_FALSE(warnings.lines().empty());
  EXPECT_EQ(warnings.lines().back(),
            "export.json says that component 'model' is dynamic, but every "
            "input of its program has a fixed shape");
  EXPECT_EQ(refusal(model, bert_kwargs({1, 8})),
            "input 'input_ids' has the wrong shape: expected int64[2, 8], got "
            "[1, 8] (axis 0 is fixed to 2 in this export)");
}

TEST(FieldShapes, LengthThatIsNotTheFixedOneIsNeitherPaddedNorCut) {
  const auto model = open_export("bert-static");
  for (const std::int64_t length : {9, 7}) {
    EXPECT_EQ(refusal(model, bert_kwargs({2, length})),
              "input 'input_ids' has the wrong shape: expected int64[2, 8], "
              "got [2, " +
                  std::to_string(length) +
                  "] (axis 1 is fixed to 8 in this export)");
  }
  EXPECT_NO_THROW((void)call(model, bert_kwargs({2, 8})));
}

TEST(FieldShapes, BakedInSizeNamesTheNodeAndShapesAndTheModelStaysUsable) {
  const auto model = open_graph("baked_reshape.onnx");
  const std::string message = message_of<BackendError>(
      [&] { model({{"x", Tensor::zeros(DType::float32, {3, 4})}}); });
  EXPECT_TRUE(message.starts_with("component 'model' failed in onnxruntime: "))
      << message;
  EXPECT_NE(message.find("Reshape node"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with(
      " (the inputs passed every check that the export allows, so a size of "
      "its trace may be part of the program; inputs of this call: 'x' "
      "float32[3, 4] on cpu)"))
      << message;
  for (const bool share : {true, false}) {
    const Outputs outputs =
        model({{"x", Tensor::zeros(DType::float32, {2, 4})}},
              {.share_outputs = share});
    EXPECT_EQ(outputs["y"].tensor().shape(), (Shape{2, 2, 2}));
  }
}

TEST(FieldShapes, RotaryPositionsGoOnPastTheTracedLength) {
  // Attention sees differences of positions only, so the same tokens further
  // on, behind padding, give the same logits.
  const auto model = open_export("llama");
  const Tensor ids = token_ids({1, 7});
  const Tensor logits =
      model({{"input_ids", ids}, {"attention_mask", int64s({1, 7}, 1)}})[0]
          .tensor();
  const Tensor padded = int64s({1, 40}, 1);
  const Tensor mask = int64s({1, 40}, 0);
  for (std::size_t i = 0; i < 7; ++i) {
    padded.data<std::int64_t>()[33 + i] = ids.data<std::int64_t>()[i];
    mask.data<std::int64_t>()[33 + i] = 1;
  }
  const Tensor later =
      model({{"input_ids", padded}, {"attention_mask", mask}})[0].tensor();
  EXPECT_EQ(tensor_difference(narrow(later, 1, 33, 40), logits, 1e-4), "");
}

TEST(FieldShapes, GivenPositionsMayBePastTheTracedOnes) {
  const auto model = open_export("llama-positions");
  const auto logits_at = [&](std::int64_t first, std::int64_t step) {
    const Tensor positions = int64s({1, 7}, 0);
    for (std::int64_t i = 0; i < 7; ++i) {
      positions.data<std::int64_t>()[static_cast<std::size_t>(i)] =
          first + i * step;
    }
    return model({{"input_ids", token_ids({1, 7})},
                  {"attention_mask", int64s({1, 7}, 1)},
                  {"position_ids", positions}})[0]
        .tensor();
  };
  EXPECT_EQ(tensor_difference(logits_at(50, 1), logits_at(0, 1), 1e-4), "");
  EXPECT_NE(tensor_difference(logits_at(0, 3), logits_at(0, 1), 1e-2), "");
}

TEST(FieldShapes, EmptyCacheWithoutAnAddressIsNoCache) {
  const auto model = open_export("llama-decode");
  const NamedValues kwargs = kwargs_of("llama-decode", "batch2-past0-step0");
  const Outputs expected = call(model, kwargs);
  const auto nothing =
      with(kwargs, "past_key_values", empty_cache(DType::float32, 2, nullptr));
  for (const bool share : {true, false}) {
    const Outputs outputs =
        call(model, nothing, {.share_inputs = share, .share_outputs = share});
    EXPECT_TRUE(equal(outputs["logits"].tensor(), expected["logits"].tensor()));
  }
  auto bound = model.bind(as_kwargs(nothing));
  EXPECT_TRUE(equal(bound()["logits"].tensor(), expected["logits"].tensor()));
}

// The whole prompt in one call, and token by token on the cache that it makes.
void expect_steps_equal_one_call(const std::string& name, std::int64_t batch,
                                 double tolerance) {
  const auto model = open_export(name);
  const DType dtype = model.dtype();
  constexpr std::int64_t kLength = 5;
  const Tensor ids = token_ids({batch, kLength});
  const Outputs whole =
      model({{"input_ids", ids},
             {"attention_mask", int64s({batch, kLength}, 1)},
             {"past_key_values", empty_cache(dtype, batch, nullptr)}});
  Value cache = empty_cache(dtype, batch, nullptr);
  for (std::int64_t i = 0; i < kLength; ++i) {
    const Outputs step = model({{"input_ids", narrow(ids, 1, i, i + 1)},
                                {"attention_mask", int64s({batch, i + 1}, 1)},
                                {"past_key_values", cache}},
                               {.share_outputs = i % 2 == 1});
    EXPECT_EQ(tensor_difference(step["logits"].tensor(),
                                narrow(whole["logits"].tensor(), 1, i, i + 1),
                                tolerance),
              "");
    cache = step["past_key_values"];
  }
  EXPECT_EQ(cache["layers.1.keys"].tensor().shape(),
            (Shape{batch, 2, kLength, 8}));
}

TEST(FieldShapes, GrowingCacheGivesWhatOneCallGives) {
  expect_steps_equal_one_call("llama-decode", 1, 1e-5);
  expect_steps_equal_one_call("llama-decode", 3, 1e-5);
}

TEST(FieldShapes, EmptyHalfPrecisionCacheGrowsToo) {
  expect_steps_equal_one_call("llama-decode-f16", 1, 1e-2);
  expect_steps_equal_one_call("llama-decode-f16", 3, 1e-2);
}

TEST(FieldShapes, PastAndPresentUnderOneSymbolMayGrow) {
  const auto model = open_graph("symbol_contradiction.onnx");
  for (const bool share : {false, true}) {
    SCOPED_TRACE(share);
    Tensor past = Tensor::from<float>({1}, {1, 1});
    std::vector<Outputs> held;
    for (std::int64_t step = 1; step <= 5; ++step) {
      const Tensor next =
          Tensor::from<float>({static_cast<float>(step + 1)}, {1, 1});
      Outputs outputs =
          model({{"a", past}, {"b", next}}, {.share_outputs = share});
      past = outputs["y"].tensor().clone();
      EXPECT_EQ(past.shape(), (Shape{1, step + 1}));
      EXPECT_EQ(past.data<float>().back(), static_cast<float>(step + 1));
      // Half of them are held, so that the others' memory is used again.
      if (step % 2 == 0) held.push_back(std::move(outputs));
    }
  }
}

TEST(FieldShapes, CacheOfFixedCapacityIsRequiredWhole) {
  const auto model = open_export("llama-static-cache").component("decode");
  const NamedValues kwargs = without(
      without(kwargs_of("llama-static-cache", "batch1-decode1"), "use_cache"),
      "return_dict");
  EXPECT_NO_THROW((void)call(model, kwargs));
  NamedValues none = without(kwargs, "past_key_values");
  NamedValues cut = none;
  for (const auto& [name, value] : kwargs) {
    if (name != "past_key_values") continue;
    for (const auto& [path, tensor] : value.leaves()) {
      const std::string leaf = name + "." + path;
      const bool counts = path.ends_with("cumulative_length");
      if (counts) none.emplace_back(leaf, tensor);
      cut.emplace_back(leaf, counts ? tensor : narrow(tensor, 2, 0, 7));
    }
  }
  const std::string message = refusal(model, none);
  EXPECT_TRUE(message.starts_with(
      "missing inputs: expected 'past_key_values.layers.0.keys' "
      "float32[s43, 2, 16, 8], 'past_key_values.layers.0.values' "
      "float32[s43, 2, 16, 8], 'past_key_values.layers.1.keys' "
      "float32[s43, 2, 16, 8], 'past_key_values.layers.1.values' "
      "float32[s43, 2, 16, 8]; got 'input_ids', "))
      << message;
  EXPECT_EQ(refusal(model, cut),
            "input 'past_key_values.layers.0.keys' has the wrong shape: "
            "expected float32[s43, 2, 16, 8], got [1, 2, 7, 8] (axis 2 is "
            "fixed to 16 in this export)");
}

TEST(FieldShapes, EarlierOutputsStayAsTheyWereWhenBatchesChange) {
  const auto model = open_export("bert");
  for (const bool share : {false, true}) {
    SCOPED_TRACE(share);
    std::vector<Outputs> held;
    std::vector<Tensor> copies;
    for (const std::int64_t batch : {4, 1, 3, 4}) {
      held.push_back(call(model, bert_kwargs({batch, 6}, batch),
                          {.share_outputs = share}));
      const Tensor hidden = held.back()["last_hidden_state"].tensor();
      EXPECT_EQ(hidden.shape(), (Shape{batch, 6, 32}));
      copies.push_back(hidden.clone());
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      EXPECT_TRUE(equal(held[i]["last_hidden_state"].tensor(), copies[i])) << i;
    }
  }
}

TEST(FieldShapes, EachRowOfABatchIsWhatItIsAlone) {
  const auto model = open_export("bert");
  const NamedValues kwargs = bert_kwargs({4, 6});
  const Tensor hidden = call(model, kwargs)["last_hidden_state"].tensor();
  for (std::int64_t row = 0; row < 4; ++row) {
    const Tensor alone =
        call(model,
             {{"input_ids",
               narrow(tensor_of(kwargs, "input_ids"), 0, row, row + 1)},
              {"attention_mask", int64s({1, 6}, 1)}},
             {.share_outputs = true})["last_hidden_state"]
            .tensor();
    EXPECT_EQ(tensor_difference(narrow(hidden, 0, row, row + 1), alone, 1e-5),
              "")
        << row;
  }
}

TEST(FieldShapes, WrongShapeInACacheIsNamedByItsPath) {
  const auto model = open_export("llama-decode");
  const NamedValues kwargs = kwargs_of("llama-decode", "batch1-past3-step0");
  const Tensor good = Tensor::zeros(DType::float32, {1, 2, 3, 8});
  const auto layer = [&](const Tensor& keys) {
    return Value::mapping({{"keys", keys}, {"values", good}});
  };
  const auto cache = [&](const Tensor& keys) {
    return with(kwargs, "past_key_values",
                Value::mapping(
                    {{"layers", Value::sequence({layer(good), layer(keys)})}}));
  };
  EXPECT_NO_THROW((void)call(model, cache(good)));
  EXPECT_EQ(refusal(model, cache(Tensor::zeros(DType::float32, {1, 2, 3, 4}))),
            "input 'past_key_values.layers.1.keys' has the wrong shape: "
            "expected float32[s54, 2, s36, 8], got [1, 2, 3, 4] (axis 3 is "
            "fixed to 8 in this export)");
  EXPECT_EQ(refusal(model, cache(Tensor::zeros(DType::float32, {1, 2, 4, 8}))),
            "input 'past_key_values.layers.1.keys' has the wrong shape: "
            "expected float32[s54, 2, s36, 8], got [1, 2, 4, 8] (axis 2 must "
            "be 3, as in 'past_key_values.layers.0.keys')");
  EXPECT_EQ(refusal(model, cache(Tensor::zeros(DType::float16, {1, 2, 3, 8}))),
            "input 'past_key_values.layers.1.keys' has the wrong dtype: "
            "expected float32[s54, 2, s36, 8], got float16[1, 2, 3, 8]: "
            "convert it before the call");
}

}  // namespace
}  // namespace modelrun::testing
