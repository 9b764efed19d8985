// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include "artifact/json_text.h"
#include "backends/torch/argument.h"
#include "backends/torch/graph.h"

namespace modelrun::torch {

/// A graph with the slots that its names have.
struct ReadGraph {
  Graph graph;
  Slots slots;
};

/// Reads a serialized graph, resolves its operators with the dispatcher and
/// works out when each value is read last. `device` takes the place of the one
/// that it was traced on. Throws InvalidArgument and Unsupported, which name
/// node and operator.
[[nodiscard]] ReadGraph read_graph(const Json& graph, c10::Device device);

}  // namespace modelrun::torch
