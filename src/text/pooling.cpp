// SPDX-License-Identifier: Apache-2.0
#include "text/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

constexpr std::array<std::pair<std::string_view, PoolingMode>, 6> kModes = {{
    {"cls", PoolingMode::cls},
    {"max", PoolingMode::max},
    {"mean", PoolingMode::mean},
    {"mean_sqrt_len_tokens", PoolingMode::mean_sqrt_len_tokens},
    {"weightedmean", PoolingMode::weightedmean},
    {"lasttoken", PoolingMode::lasttoken},
}};

// One row of the batch: its tokens, and which of them count.
struct Row {
  const float* values;
  std::size_t sequence;
  std::size_t hidden;
  std::size_t first;  // the first token that is no padding
  std::vector<float> mask;

  [[nodiscard]] std::span<const float> token(std::size_t at) const {
    return {values + at * hidden, hidden};
  }
};

Row make_row(const TokenEmbeddings& tokens, std::size_t index,
             std::int64_t prompt_length) {
  Row row{};
  row.sequence = static_cast<std::size_t>(tokens.sequence);
  row.hidden = static_cast<std::size_t>(tokens.hidden);
  row.values = tokens.values.data() + index * row.sequence * row.hidden;
  const auto mask =
      tokens.attention_mask.subspan(index * row.sequence, row.sequence);
  row.mask.assign(mask.begin(), mask.end());
  const auto first = std::find_if(mask.begin(), mask.end(),
                                  [](std::int64_t on) { return on != 0; });
  row.first =
      first == mask.end() ? 0 : static_cast<std::size_t>(first - mask.begin());
  const auto prompt = static_cast<std::size_t>(prompt_length);
  const auto excluded =
      prompt == 0 ? 0 : row.first + std::min(prompt, row.sequence - row.first);
  std::fill_n(row.mask.begin(), excluded, 0.0F);
  return row;
}

void copy_token(const Row& row, std::size_t at, std::span<float> out) {
  const auto token = row.token(at);
  std::copy(token.begin(), token.end(), out.begin());
}

void pool_first(const Row& row, std::span<float> out) {
  const auto on = std::find_if(row.mask.begin(), row.mask.end(),
                               [](float weight) { return weight != 0.0F; });
  const bool any = on != row.mask.end();
  copy_token(row, any ? static_cast<std::size_t>(on - row.mask.begin()) : 0,
             out);
}

void pool_last(const Row& row, std::span<float> out) {
  for (std::size_t at = row.sequence; at-- > 0;) {
    if (row.mask[at] != 0.0F) return copy_token(row, at, out);
  }
  std::fill(out.begin(), out.end(), 0.0F);
}

void pool_max(const Row& row, std::span<float> out) {
  std::fill(out.begin(), out.end(), -std::numeric_limits<float>::infinity());
  for (std::size_t at = 0; at < row.sequence; ++at) {
    if (row.mask[at] == 0.0F) continue;
    const auto token = row.token(at);
    for (std::size_t i = 0; i < row.hidden; ++i) {
      // As torch: a NaN of a token that counts is not hidden.
      if (token[i] > out[i] || std::isnan(token[i])) out[i] = token[i];
    }
  }
}

// The sum of the tokens by weight, and that of the weights.
template <typename Weight>
float weighted_sum(const Row& row, Weight weight, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0F);
  float total = 0.0F;
  for (std::size_t at = 0; at < row.sequence; ++at) {
    if (row.mask[at] == 0.0F) continue;
    const float factor = row.mask[at] * weight(at);
    const auto token = row.token(at);
    for (std::size_t i = 0; i < row.hidden; ++i) out[i] += token[i] * factor;
    total += factor;
  }
  return std::max(total, 1e-9F);
}

void divide(std::span<float> out, float divisor) {
  for (float& value : out) value /= divisor;
}

void pool_row(const Row& row, PoolingMode mode, std::span<float> out) {
  const auto one = [](std::size_t) { return 1.0F; };
  switch (mode) {
    case PoolingMode::cls:
      return pool_first(row, out);
    case PoolingMode::max:
      return pool_max(row, out);
    case PoolingMode::mean:
      return divide(out, weighted_sum(row, one, out));
    case PoolingMode::mean_sqrt_len_tokens:
      return divide(out, std::sqrt(weighted_sum(row, one, out)));
    case PoolingMode::weightedmean: {
      const auto place = [&row](std::size_t at) {
        return static_cast<float>(at) - static_cast<float>(row.first) + 1.0F;
      };
      return divide(out, weighted_sum(row, place, out));
    }
    case PoolingMode::lasttoken:
      return pool_last(row, out);
  }
}

void check(const TokenEmbeddings& tokens, std::int64_t prompt_length) {
  const auto shape = [&tokens] {
    return "[" + std::to_string(tokens.batch) + ", " +
           std::to_string(tokens.sequence) + ", " +
           std::to_string(tokens.hidden) + "]";
  };
  if (tokens.batch < 0 || tokens.sequence <= 0 || tokens.hidden <= 0) {
    throw InvalidArgument(
        "cannot pool: expected token embeddings of at least one token, got " +
        shape());
  }
  const auto mask = tokens.attention_mask.size();
  const auto count = static_cast<std::size_t>(tokens.batch * tokens.sequence);
  if (tokens.values.size() != count * static_cast<std::size_t>(tokens.hidden) ||
      mask != count) {
    throw InvalidArgument("cannot pool: token embeddings " + shape() +
                          " do not go with an attention_mask of " +
                          std::to_string(mask) + " and " +
                          std::to_string(tokens.values.size()) + " values");
  }
  if (prompt_length < 0) {
    throw InvalidArgument(
        "cannot pool: expected a prompt_length of 0 or more, "
        "got " +
        std::to_string(prompt_length));
  }
}

}  // namespace

std::optional<PoolingMode> pooling_mode(std::string_view name) {
  for (const auto& [known, mode] : kModes) {
    if (known == name) return mode;
  }
  return std::nullopt;
}

std::string_view pooling_mode_names() {
  return "cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken";
}

std::vector<float> pool(const TokenEmbeddings& tokens,
                        std::span<const PoolingMode> modes,
                        std::int64_t prompt_length) {
  check(tokens, prompt_length);
  const auto batch = static_cast<std::size_t>(tokens.batch);
  const auto hidden = static_cast<std::size_t>(tokens.hidden);
  std::vector<float> pooled(batch * modes.size() * hidden);
  std::span<float> rest(pooled);
  for (std::size_t index = 0; index < batch; ++index) {
    const Row row = make_row(tokens, index, prompt_length);
    for (const auto mode : modes) {
      pool_row(row, mode, rest.first(hidden));
      rest = rest.subspan(hidden);
    }
  }
  return pooled;
}

void normalize(std::span<float> rows, std::int64_t dimension) {
  const auto width = static_cast<std::size_t>(dimension);
  if (dimension <= 0 || rows.size() % width != 0) {
    throw InvalidArgument("cannot normalize " + std::to_string(rows.size()) +
                          " values as rows of " + std::to_string(dimension));
  }
  for (; !rows.empty(); rows = rows.subspan(width)) {
    const auto row = rows.first(width);
    double square = 0.0;
    for (const float value : row) square += static_cast<double>(value) * value;
    divide(row, std::max(static_cast<float>(std::sqrt(square)), 1e-12F));
  }
}

}  // namespace modelrun::detail
