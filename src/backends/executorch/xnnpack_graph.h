// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace modelrun::executorch {

/// What a graph for XNNPACK refers to outside of itself.
struct GraphSurroundings {
  /// One for each argument that every call of it has: whether one of the calls
  /// gives a constant there, which must not be written to.
  std::vector<bool> constant_arguments;
  /// The bytes that the program has under a name; nothing when it has none.
  std::function<std::optional<std::size_t>(const std::string&)> named_bytes;
};

/// Checks the data of a delegate that XNNPACK is to run, since the delegate
/// follows every offset, number and size in it as it is. Throws Failure on
/// data that would make it read outside of what it was given.
void check_xnnpack_graph(std::span<const std::byte> data,
                         const GraphSurroundings& surroundings);

}  // namespace modelrun::executorch
