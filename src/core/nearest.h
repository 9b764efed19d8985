// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace modelrun {

/// The candidate that `name` is most likely a misspelling of; empty when none
/// is close: the Levenshtein distance may be at most a third of the length, or
/// 1 for a name of two or three letters.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       std::span<const std::string> candidates);

/// `", did you mean 'x'?"`, or nothing when no candidate is close.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string> candidates);

/// `'a', 'b', 'c'`: names for an error message.
[[nodiscard]] std::string quoted_list(std::span<const std::string> names);

}  // namespace modelrun
