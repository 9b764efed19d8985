// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "modelrun/tokenizer.h"

namespace modelrun::detail {

/// What a call asks for, with the tokenizer's defaults filled in.
struct EncodePlan {
  Padding padding = Padding::do_not_pad;
  std::int64_t max_length = 0;  // 0 where nothing needs it
  std::int64_t multiple = 1;
  std::int64_t pad_id = 0;
  std::int64_t pad_type_id = 0;
  bool pad_left = false;
  bool truncate_left = false;
};

/// Throws `InvalidArgument` for options that contradict each other or need
/// what the tokenizer lacks.
[[nodiscard]] EncodePlan plan_encode(const EncodeOptions& options,
                                     const TokenizerConfig& config,
                                     std::optional<std::int64_t> pad_id);

/// The length that rows of these lengths are padded to. Throws
/// `InvalidArgument` when they do not fit one block.
[[nodiscard]] std::int64_t padded_length(const EncodePlan& plan,
                                         std::span<const std::int64_t> lengths);

}  // namespace modelrun::detail
