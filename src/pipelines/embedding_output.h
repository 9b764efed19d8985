// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "modelrun/value.h"
#include "text/pooling.h"

namespace modelrun::detail {

/// How the outputs of an encoder become one vector a text.
struct EmbeddingRecipe {
  std::vector<PoolingMode> pooling_modes = {PoolingMode::mean};
  bool normalize = false;
  /// Tokens of a prompt that are not pooled.
  std::int64_t prompt_length = 0;
};

/// Vectors, row by row.
struct EmbeddingRows {
  std::vector<float> values;
  std::int64_t dimension = 0;
};

/// The vectors of one batch, whose `attention_mask` is `[batch, sequence]`:
/// `sentence_embedding` as the model made it, or else the pooled
/// `token_embeddings` or `last_hidden_state`. Throws InvalidArgument, which
/// lists the outputs, when there is none of them or it has another shape.
[[nodiscard]] EmbeddingRows embedding_rows(
    const Outputs& outputs, const EmbeddingRecipe& recipe,
    std::span<const std::int64_t> attention_mask, std::int64_t batch);

}  // namespace modelrun::detail
