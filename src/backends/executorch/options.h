// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace modelrun::executorch {

/// What a session is created with.
struct Options {
  /// Nothing: as many as the process has cores.
  std::optional<int> threads;
  /// The values of inputs that take no tensor, by position.
  std::vector<std::pair<std::size_t, nlohmann::json>> in_constants;
};

/// The keys that `parse_options` knows, in alphabetical order.
[[nodiscard]] std::vector<std::string> option_keys();

/// Reads one JSON object (NULL: the defaults); throws Failure on unknown keys,
/// on values of another type and on a device that is not there.
[[nodiscard]] Options parse_options(const char* json);

}  // namespace modelrun::executorch
