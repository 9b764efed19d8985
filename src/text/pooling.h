// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace modelrun::detail {

/// How token embeddings become one embedding, by sentence-transformers' names.
enum class PoolingMode {
  cls,
  max,
  mean,
  mean_sqrt_len_tokens,
  weightedmean,
  lasttoken
};

[[nodiscard]] std::optional<PoolingMode> pooling_mode(std::string_view name);

/// All names that `pooling_mode` knows, for error messages.
[[nodiscard]] std::string_view pooling_mode_names();

/// A model's last hidden state, `[batch, sequence, hidden]`, with its mask,
/// `[batch, sequence]`; both are views.
struct TokenEmbeddings {
  std::span<const float> values = {};
  std::span<const std::int64_t> attention_mask = {};
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t hidden = 0;
};

/// Pools each row by each mode, side by side: `[batch, modes * hidden]`.
///
/// The numbers are those of sentence-transformers 6. The first `prompt_length`
/// tokens of a row, after its left padding, are left out. What a model makes
/// of padding never counts, not even NaN. Throws `InvalidArgument` when a size
/// does not fit the others.
[[nodiscard]] std::vector<float> pool(const TokenEmbeddings& tokens,
                                      std::span<const PoolingMode> modes,
                                      std::int64_t prompt_length = 0);

/// Scales each row of `[rows, dimension]` to length 1; a zero row stays.
void normalize(std::span<float> rows, std::int64_t dimension);

}  // namespace modelrun::detail
