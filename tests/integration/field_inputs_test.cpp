// SPDX-License-Identifier: Apache-2.0
// Inputs as people pass them to real exports: too many, too few, of another
// dtype or rank, gone or changed after the call.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "support/exports.h"
#include "support/tensor_difference.h"

namespace modelrun::testing {
namespace {

TEST(FieldInputs, TokenTypesThatTheGraphLacksAreDropped) {
  const auto model = open_export("bert");
  const NamedValues kwargs = kwargs_of("bert", "padded");
  const Outputs expected = call(model, kwargs);
  const Warnings warnings;
  const Outputs outputs =
      call(model, with(kwargs, "token_type_ids",
                       int64s(tensor_of(kwargs, "input_ids").shape(), 1)));
  EXPECT_TRUE(equal(outputs["last_hidden_state"].tensor(),
                    expected["last_hidden_state"].tensor()));
  EXPECT_EQ(warnings.lines(),
            std::vector<std::string>{
                "component 'model' drops kwargs that the export was not "
                "traced with: 'token_type_ids'"});
}

TEST(FieldInputs, MissingInputsAreListedTogetherWithWhatCame) {
  const auto model = open_export("bert-token-types");
  const NamedValues kwargs = kwargs_of("bert-token-types", "padded");
  EXPECT_EQ(refusal(model, without(kwargs, "token_type_ids")),
            "missing inputs: expected 'token_type_ids' int64[s18, s41]; got "
            "'input_ids', 'attention_mask'");
  EXPECT_EQ(refusal(model, without(kwargs, "attention_mask")),
            "missing inputs: expected 'attention_mask' int64[s43, s41]; got "
            "'input_ids', 'token_type_ids'");
  EXPECT_EQ(refusal(model, without(without(kwargs, "attention_mask"),
                                   "token_type_ids")),
            "missing inputs: expected 'attention_mask' int64[s43, s41], "
            "'token_type_ids' int64[s18, s41]; got 'input_ids'");
  EXPECT_NO_THROW((void)call(model, kwargs));
}

TEST(FieldInputs, PositionsAreRequiredOnlyWhereTheGraphReadsThem) {
  const NamedValues with_positions =
      without(kwargs_of("llama-positions", "batch1"), "use_cache");
  const NamedValues plain = without(with_positions, "position_ids");
  const auto reads_them = open_export("llama-positions");
  EXPECT_NO_THROW((void)call(reads_them, with_positions));
  EXPECT_EQ(refusal(reads_them, plain),
            "missing inputs: expected 'position_ids' int64[s44, s53]; got "
            "'input_ids', 'attention_mask'");
  const auto does_not = open_export("llama");
  EXPECT_TRUE(equal(call(does_not, with_positions)["logits"].tensor(),
                    call(does_not, plain)["logits"].tensor()));
}

TEST(FieldInputs, MaskThatADecoderDoesNotTakeIsDropped) {
  const auto layout =
      std::filesystem::path(MODELRUN_TEST_MODELS) / "optimum_layouts/decoder";
  const auto model =
      ExportedModel::from_pretrained(layout).component("decoder_model");
  const Tensor states = Tensor::zeros(DType::float32, {2, 5, 4});
  const NamedValues kwargs{{"input_ids", int64s({2, 3}, 7)},
                           {"encoder_hidden_states", states}};
  const auto masked = with(kwargs, "encoder_attention_mask", int64s({2, 5}, 1));
  EXPECT_TRUE(equal(call(model, masked)["logits"].tensor(),
                    call(model, kwargs)["logits"].tensor()));
}

TEST(FieldInputs, MaskThatADecoderTakesReachesTheGraph) {
  const auto model = open_export("t5-generation").component("prefill");
  NamedValues kwargs = kwargs_of("t5-generation", "padded-prefill");
  const Outputs before = call(model, kwargs);
  const Tensor mask = tensor_of(kwargs, "attention_mask").clone();
  for (std::int64_t& seen : mask.data<std::int64_t>()) seen = 1;
  const Outputs after = call(model, with(kwargs, "attention_mask", mask));
  EXPECT_NE(tensor_difference(after["logits"].tensor(),
                              before["logits"].tensor(), 1e-3),
            "");
}

TEST(FieldInputs, NarrowIdsAreWidened) {
  const auto model = open_export("bert");
  const NamedValues kwargs = kwargs_of("bert", "padded");
  NamedValues narrow;
  for (const auto& [name, value] : kwargs) {
    const auto wide = value.tensor().data<std::int64_t>();
    Tensor tensor = Tensor::empty(DType::int32, value.tensor().shape());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      tensor.data<std::int32_t>()[i] = static_cast<std::int32_t>(wide[i]);
    }
    narrow.emplace_back(name, tensor);
  }
  EXPECT_TRUE(equal(call(model, narrow)["pooler_output"].tensor(),
                    call(model, kwargs)["pooler_output"].tensor()));
}

TEST(FieldInputs, WideIdsAreNarrowedOnlyWhenTheyFit) {
  const auto model = open_graph("embedding_int32.onnx");
  const std::string name = "input_ids";
  const Tensor narrow = Tensor::from<std::int32_t>({4, 0, 2}, {1, 3});
  const Tensor wide = Tensor::from<std::int64_t>({4, 0, 2}, {1, 3});
  EXPECT_TRUE(equal(model({{name, wide}})[0].tensor(),
                    model({{name, narrow}})[0].tensor()));
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(
      refusal(model,
              {{name, Tensor::from<std::int64_t>({4, huge, 2}, {1, 3})}}),
      "input 'input_ids' holds 1099511627776 at element 1, which does not fit "
      "int32");
}

TEST(FieldInputs, IdsPastTheEmbeddingAreRefused) {
  const auto model = open_export("bert");
  const NamedValues kwargs{{"input_ids", int64s({1, 3}, 99)},
                           {"attention_mask", int64s({1, 3}, 1)}};
  EXPECT_EQ(refusal(model, kwargs),
            "input 'input_ids' holds 99, which is not a row of the embedding "
            "that it indexes: expected 0 to 98");
  EXPECT_EQ(refusal(model, with(kwargs, "input_ids", int64s({1, 3}, -1))),
            "input 'input_ids' holds -1, which is not a row of the embedding "
            "that it indexes: expected 0 to 98");
}

TEST(FieldInputs, FloatsForIdsAreRefusedByNameDtypeAndShape) {
  const auto model = open_export("bert");
  EXPECT_EQ(
      refusal(model, {{"input_ids", Tensor::zeros(DType::float32, {2, 7})},
                      {"attention_mask", int64s({2, 7}, 1)}}),
      "input 'input_ids' has the wrong dtype: expected int64[s43, s53], "
      "got float32[2, 7]: convert it before the call");
  EXPECT_EQ(
      refusal(model, {{"input_ids", int64s({2, 7}, 1)},
                      {"attention_mask", Tensor::zeros(DType::bool_, {2, 7})}}),
      "input 'attention_mask' has the wrong dtype: expected int64[s43, "
      "s53], got bool[2, 7]: convert it before the call");
}

TEST(FieldInputs, WrongRankNamesTheInputAndBothShapes) {
  const auto model = open_export("bert");
  const Tensor mask = int64s({1, 7}, 1);
  EXPECT_EQ(
      refusal(model, {{"input_ids", int64s({7}, 1)}, {"attention_mask", mask}}),
      "input 'input_ids' has the wrong rank: expected int64[s43, s53], "
      "got shape [7]");
  EXPECT_EQ(refusal(model, {{"input_ids", int64s({1, 1, 7}, 1)},
                            {"attention_mask", mask}}),
            "input 'input_ids' has the wrong rank: expected int64[s43, s53], "
            "got shape [1, 1, 7]");
}

TEST(FieldInputs, MaskOfAnotherLengthIsRefusedAndTheNextCallWorks) {
  const auto model = open_export("bert");
  const NamedValues kwargs{{"input_ids", int64s({2, 7}, 1)},
                           {"attention_mask", int64s({2, 6}, 1)}};
  EXPECT_EQ(refusal(model, kwargs),
            "input 'attention_mask' has the wrong shape: expected int64[s43, "
            "s53], got [2, 6] (axis 1 must be 7, as in 'input_ids')");
  EXPECT_NO_THROW(
      (void)call(model, with(kwargs, "attention_mask", int64s({2, 7}, 1))));
}

TEST(FieldInputs, ConstantsOfTheTraceNeverShiftTheTensors) {
  const auto model = open_export("constants");
  const NamedValues kwargs = kwargs_of("constants", "batch1");
  const Outputs expected = call(model, kwargs);
  NamedValues reversed(kwargs.rbegin(), kwargs.rend());
  EXPECT_TRUE(equal(call(model, reversed)["result"].tensor(),
                    expected["result"].tensor()));
  NamedValues tensors;
  for (const auto& entry : kwargs) {
    if (entry.second.is_tensor()) tensors.push_back(entry);
  }
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_TRUE(equal(call(model, tensors)["result"].tensor(),
                    expected["result"].tensor()));
  std::swap(tensors[0].second, tensors[2].second);
  EXPECT_FALSE(equal(call(model, tensors)["result"].tensor(),
                     expected["result"].tensor()));
}

TEST(FieldInputs, AnotherConstantThanTheTracedOneIsRefused) {
  const auto model = open_export("constants");
  const NamedValues kwargs = kwargs_of("constants", "batch1");
  const std::string advice =
      ": leave it out, or export the model with that value";
  EXPECT_EQ(refusal(model, with(kwargs, "double", false)),
            "kwarg 'double' is True in this export, got False" + advice);
  EXPECT_EQ(refusal(model, with(kwargs, "times", 2)),
            "kwarg 'times' is 3 in this export, got 2" + advice);
  EXPECT_EQ(refusal(model, with(kwargs, "mode", "mul")),
            "kwarg 'mode' is 'add' in this export, got 'mul'" + advice);
  EXPECT_EQ(refusal(model, with(kwargs, "bias", 0.25)),
            "kwarg 'bias' is None in this export, got 0.25" + advice);
}

// The bits of special half-precision values: 1.5, -0.0, infinity, a NaN with a
// payload, the smallest subnormal and the largest number.
Tensor special_halves(DType dtype) {
  const auto bits = dtype == DType::float16
                        ? std::array<std::uint16_t, 6>{0x3E00, 0x8000, 0x7C00,
                                                       0x7E01, 0x0001, 0x7BFF}
                        : std::array<std::uint16_t, 6>{0x3FC0, 0x8000, 0x7F80,
                                                       0x7FC1, 0x0001, 0x7F7F};
  Tensor tensor = Tensor::empty(dtype, {6});
  std::memcpy(tensor.raw_data(), bits.data(), sizeof bits);
  return tensor;
}

TEST(FieldInputs, HalvesComeBackBitForBitWithTheirDtype) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    SCOPED_TRACE(name(dtype));
    const auto model =
        open_graph("identity_" + std::string(name(dtype)) + ".onnx");
    const Tensor x = special_halves(dtype);
    for (const bool share : {false, true}) {
      const Tensor y = model({{"x", x}}, {.share_outputs = share})[0].tensor();
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_TRUE(equal(x, y));
    }
  }
}

TEST(FieldInputs, FloatsForHalvesAreRefused) {
  const auto model = open_graph("identity_float16.onnx");
  EXPECT_EQ(refusal(model, {{"x", Tensor::zeros(DType::float32, {6})}}),
            "input 'x' has the wrong dtype: expected float16[n], got "
            "float32[6]: convert it before the call");
  EXPECT_EQ(refusal(model, {{"x", Tensor::zeros(DType::uint16, {6})}}),
            "input 'x' has the wrong dtype: expected float16[n], got "
            "uint16[6]: convert it before the call");
}

TEST(FieldInputs, OutputsOfAHalfPrecisionExportAreHalves) {
  const auto model = open_export("bert-f16");
  EXPECT_EQ(model.dtype(), DType::float16);
  const Outputs outputs = call(model, kwargs_of("bert-f16", "padded"));
  EXPECT_EQ(outputs["last_hidden_state"].tensor().dtype(), DType::float16);
}

TEST(FieldInputs, TemporariesLiveUntilTheCallIsDone) {
  const auto model = open_export("bert");
  const NamedValues kwargs{{"input_ids", token_ids({2, 5})},
                           {"attention_mask", int64s({2, 5}, 1)}};
  const Outputs expected = call(model, kwargs);
  for (const bool share : {false, true}) {
    const Outputs outputs =
        model({{"input_ids", token_ids({2, 5})},
               {"attention_mask", int64s({2, 5}, 1)}},
              {.share_inputs = share, .share_outputs = share});
    EXPECT_TRUE(equal(outputs["pooler_output"].tensor(),
                      expected["pooler_output"].tensor()));
  }
}

TEST(FieldInputs, BoundCallKeepsItsTemporaries) {
  const auto model = open_export("bert");
  auto bound = model.bind({{"input_ids", token_ids({2, 5})},
                           {"attention_mask", int64s({2, 5}, 1)}});
  const Outputs expected = call(model, {{"input_ids", token_ids({2, 5})},
                                        {"attention_mask", int64s({2, 5}, 1)}});
  // What would overwrite memory that was freed.
  const std::vector<Tensor> others(16, int64s({2, 5}, 98).clone());
  EXPECT_TRUE(equal(bound()["pooler_output"].tensor(),
                    expected["pooler_output"].tensor()));
}

TEST(FieldInputs, OutputThatIsAnInputHasMemoryOfItsOwn) {
  const auto model = open_export("oddities");
  const NamedValues kwargs = kwargs_of("oddities", "batch3");
  const Tensor ids = tensor_of(kwargs, "token_ids").clone();
  const Tensor before = ids.clone();
  for (const bool share : {false, true}) {
    for (const bool share_outputs : {false, true}) {
      const Outputs outputs =
          call(model, with(kwargs, "token_ids", ids),
               {.share_inputs = share, .share_outputs = share_outputs});
      const Tensor returned = outputs["token_ids"].tensor();
      EXPECT_NE(returned.raw_data(), ids.raw_data());
      ids.data<std::int64_t>()[0] = 77;
      EXPECT_TRUE(equal(returned, before));
      ids.data<std::int64_t>()[0] = before.data<std::int64_t>()[0];
    }
  }
}

}  // namespace
}  // namespace modelrun::testing
