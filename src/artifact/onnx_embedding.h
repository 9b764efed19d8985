// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "artifact/onnx_program.h"

namespace modelrun {

/// A node of a graph, as far as it matters to find embeddings. The views point
/// into the file.
struct OnnxNode {
  std::string_view op_type;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::int64_t axis = 0;
};

/// Finds the inputs that index rows of initializers: those that reach the
/// indices of a `Gather` as they are, or through casts.
[[nodiscard]] std::vector<OnnxIndexInput> find_index_inputs(
    const std::vector<OnnxNode>& nodes, const std::vector<OnnxValue>& inputs,
    const std::unordered_map<std::string_view, std::int64_t>& rows);

}  // namespace modelrun
