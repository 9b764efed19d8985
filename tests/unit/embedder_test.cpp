// SPDX-License-Identifier: Apache-2.0
#include "modelrun/embedder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "modelrun/error.h"
#include "pipelines/embedding_output.h"
#include "pipelines/encoder_inputs.h"

namespace modelrun {
namespace {

using detail::embedding_rows;
using detail::EmbeddingRecipe;
using detail::PoolingMode;

constexpr std::int64_t kMask[] = {1, 1, 1, 0};

template <typename Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Outputs hidden_state(Tensor tensor) {
  return Value::mapping({{"last_hidden_state", std::move(tensor)}});
}

TEST(EmbeddingRows, MeanLeavesPaddingOut) {
  const Outputs outputs =
      hidden_state(Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}));
  const auto rows = embedding_rows(outputs, {}, kMask, 2);
  EXPECT_EQ(rows.dimension, 2);
  EXPECT_EQ(rows.values, (std::vector<float>{2, 3, 5, 6}));
}

TEST(EmbeddingRows, ModesStandSideBySideAndAreNormalizedTogether) {
  const Outputs outputs =
      hidden_state(Tensor::from<float>({3, 0, 4, 0, 1, 0, 1, 0}, {2, 2, 2}));
  const EmbeddingRecipe recipe{
      .pooling_modes = {PoolingMode::cls, PoolingMode::lasttoken},
      .normalize = true};
  const auto rows = embedding_rows(outputs, recipe, kMask, 2);
  EXPECT_EQ(rows.dimension, 4);
  EXPECT_FLOAT_EQ(rows.values[0], 0.6f);
  EXPECT_FLOAT_EQ(rows.values[2], 0.8f);
  EXPECT_FLOAT_EQ(rows.values[4], std::sqrt(0.5f));
}

TEST(EmbeddingRows, SentenceEmbeddingIsTakenAsTheModelMadeIt) {
  const Outputs outputs = Value::mapping(
      {{"token_embeddings", Tensor::from<float>({9, 9, 9, 9}, {2, 2, 1})},
       {"sentence_embedding", Tensor::from<float>({1, 2}, {2, 1})}});
  const auto rows = embedding_rows(outputs, {}, kMask, 2);
  EXPECT_EQ(rows.values, (std::vector<float>{1, 2}));
}

TEST(EmbeddingRows, NarrowFloatsAreWidened) {
  const Outputs half = hidden_state(Tensor::from<Float16>(
      {Float16(0.5f), Float16(1.5f), Float16(2.0f), Float16(9.0f)}, {2, 2, 1}));
  EXPECT_EQ(embedding_rows(half, {}, kMask, 2).values,
            (std::vector<float>{1, 2}));
  const Outputs brain = hidden_state(Tensor::from<BFloat16>(
      {BFloat16(0.5f), BFloat16(1.5f), BFloat16(2.0f), BFloat16(9.0f)},
      {2, 2, 1}));
  EXPECT_EQ(embedding_rows(brain, {}, kMask, 2).values,
            (std::vector<float>{1, 2}));
}

TEST(EmbeddingRows, OtherOutputsAreRefusedAndListed) {
  const Outputs logits =
      Value::mapping({{"logits", Tensor::zeros(DType::float32, {2, 2, 1})}});
  EXPECT_EQ(refusal([&] { (void)embedding_rows(logits, {}, kMask, 2); }),
            "cannot embed: expected an output 'sentence_embedding', "
            "'token_embeddings' or 'last_hidden_state', got 'logits': export "
            "the model without a head (AutoModel)");
  const Outputs flat = hidden_state(Tensor::zeros(DType::float32, {1, 2, 1}));
  EXPECT_EQ(refusal([&] { (void)embedding_rows(flat, {}, kMask, 2); }),
            "cannot embed: expected the output 'last_hidden_state' as [2, "
            "sequence, hidden], got float32[1, 2, 1] on cpu");
  const Outputs integers = hidden_state(Tensor::zeros(DType::int64, {2, 2, 1}));
  EXPECT_EQ(refusal([&] { (void)embedding_rows(integers, {}, kMask, 2); }),
            "cannot embed: expected the output 'last_hidden_state' in "
            "float32, float16 or bfloat16, got int64[2, 2, 1] on cpu");
}

TEST(EncoderInputs, FixedShapesAndUnreadKwargsAreSeen) {
  ComponentDescription component;
  component.inputs = {{"input_ids", DType::int64, {"2", "7"}},
                      {"attention_mask", DType::int64, {"2", "7"}}};
  ExportDescription description;
  description.components.push_back(component);
  const auto inputs = detail::encoder_inputs(description);
  EXPECT_EQ(inputs.batch, 2);
  EXPECT_EQ(inputs.sequence, 7);
  EXPECT_TRUE(inputs.names.contains("attention_mask"));
  EXPECT_FALSE(inputs.names.contains("token_type_ids"));
}

TEST(EncoderInputs, SymbolsFixNothing) {
  ComponentDescription component;
  component.inputs = {{"input_ids", DType::int64, {"s72", "?"}}};
  ExportDescription description;
  description.components.push_back(component);
  EXPECT_FALSE(detail::encoder_inputs(description).batch.has_value());
  EXPECT_FALSE(detail::encoder_inputs(description).sequence.has_value());
}

TEST(CosineSimilarity, ComparesEveryPairAndZeroIsLikeNothing) {
  const Tensor a = Tensor::from<float>({1, 0, 3, 4}, {2, 2});
  const Tensor b = Tensor::from<float>({2, 0, 0, 5, 0, 0}, {3, 2});
  const Tensor cosines = cosine_similarity(a, b);
  ASSERT_EQ(cosines.shape(), Shape({2, 3}));
  const float expected[] = {1, 0, 0, 0.6f, 0.8f, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(cosines.data<float>()[i], expected[i]) << i;
  }
}

TEST(CosineSimilarity, OtherShapesAndDTypesAreRefused) {
  const Tensor a = Tensor::zeros(DType::float32, {2, 3});
  EXPECT_EQ(refusal([&] {
              (void)cosine_similarity(a, Tensor::zeros(DType::float32, {2, 4}));
            }),
            "cosine_similarity: expected rows of one dimension, got "
            "float32[2, 3] on cpu and float32[2, 4] on cpu");
  EXPECT_EQ(refusal([&] {
              (void)cosine_similarity(a, Tensor::zeros(DType::float16, {2, 3}));
            }),
            "cosine_similarity: expected float32 [rows, dimension] on cpu, "
            "got float16[2, 3] on cpu");
  EXPECT_THROW((void)cosine_similarity(Tensor(), a), InvalidArgument);
}

}  // namespace
}  // namespace modelrun
