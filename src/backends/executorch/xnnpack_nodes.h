// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/executorch/flat_table.h"

namespace modelrun::executorch {

/// Throws Failure, unless a part of a graph for XNNPACK is as it must be.
void require_in_graph(bool is_right, const char* what);

struct GraphValue {
  std::vector<std::int32_t> dims;
  /// Whether it is a constant, an input, or what an earlier node wrote.
  bool is_there = false;
};

/// A graph's values, by their numbers.
using GraphValues = std::map<std::uint32_t, GraphValue>;

/// Checks one node of a graph for XNNPACK: that it reads what is there and
/// writes what is not, which then is; that its lists are as long as what is
/// read of them, and its weights as large as its sizes say.
void check_xnnpack_node(const FlatTable& node, GraphValues& values);

}  // namespace modelrun::executorch
