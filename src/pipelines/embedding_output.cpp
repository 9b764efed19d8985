// SPDX-License-Identifier: Apache-2.0
#include "pipelines/embedding_output.h"

#include <algorithm>
#include <string>

#include "core/nearest.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

constexpr const char* kPooled = "sentence_embedding";

template <typename T>
std::vector<float> widened(const Tensor& tensor) {
  const auto elements = tensor.data<const T>();
  std::vector<float> values(elements.size());
  std::transform(elements.begin(), elements.end(), values.begin(),
                 [](T element) { return static_cast<float>(element); });
  return values;
}

std::vector<float> float_values(const Tensor& tensor, const char* name) {
  const Tensor dense = tensor.contiguous();
  switch (dense.dtype()) {
    case DType::float32:
      return widened<float>(dense);
    case DType::float16:
      return widened<Float16>(dense);
    case DType::bfloat16:
      return widened<BFloat16>(dense);
    default:
      throw InvalidArgument("cannot embed: expected the output '" +
                            std::string(name) + "' in float32, float16 or " +
                            "bfloat16, got " + to_string(tensor));
  }
}

const char* embedding_name(const Outputs& outputs) {
  for (const char* name : {kPooled, "token_embeddings", "last_hidden_state"}) {
    if (outputs.is_nested() && outputs.contains(name) &&
        outputs[name].is_tensor()) {
      return name;
    }
  }
  throw InvalidArgument(
      "cannot embed: expected an output 'sentence_embedding', "
      "'token_embeddings' or 'last_hidden_state', got " +
      quoted_list(outputs.keys()) +
      ": export the model without a head (AutoModel)");
}

void check_shape(const Tensor& tensor, const char* name, std::size_t rank,
                 std::int64_t batch) {
  if (tensor.rank() == rank && tensor.shape()[0] == batch) return;
  throw InvalidArgument("cannot embed: expected the output '" +
                        std::string(name) + "' as [" + std::to_string(batch) +
                        (rank == 2 ? ", hidden]" : ", sequence, hidden]") +
                        ", got " + to_string(tensor));
}

}  // namespace

EmbeddingRows embedding_rows(const Outputs& outputs,
                             const EmbeddingRecipe& recipe,
                             std::span<const std::int64_t> attention_mask,
                             std::int64_t batch) {
  const char* name = embedding_name(outputs);
  const Tensor tensor = outputs[name].tensor();
  const bool is_pooled = name == kPooled;
  check_shape(tensor, name, is_pooled ? 2 : 3, batch);
  EmbeddingRows rows;
  rows.values = float_values(tensor, name);
  rows.dimension = tensor.shape()[tensor.rank() - 1];
  if (!is_pooled) {
    rows.values = pool({.values = rows.values,
                        .attention_mask = attention_mask,
                        .batch = batch,
                        .sequence = tensor.shape()[1],
                        .hidden = rows.dimension},
                       recipe.pooling_modes, recipe.prompt_length);
    rows.dimension *= static_cast<std::int64_t>(recipe.pooling_modes.size());
  }
  if (recipe.normalize) normalize(rows.values, rows.dimension);
  return rows;
}

}  // namespace modelrun::detail
