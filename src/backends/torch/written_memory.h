// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/torch/graph.h"

namespace modelrun::torch {

/// For each slot of the graph, whether some node may write the memory of its
/// value, through whatever view. Told from the aliases that schemas declare;
/// it may say yes too often.
[[nodiscard]] std::vector<bool> find_written_memory(const Graph& graph);

}  // namespace modelrun::torch
