// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_embedding.h"

#include <algorithm>

namespace modelrun {

std::vector<OnnxIndexInput> find_index_inputs(
    const std::vector<OnnxNode>& nodes, const std::vector<OnnxValue>& inputs,
    const std::unordered_map<std::string_view, std::int64_t>& rows) {
  // The input that a value is, and the rows of the table that one is.
  std::unordered_map<std::string_view, std::size_t> input_of;
  std::unordered_map<std::string_view, std::int64_t> rows_of = rows;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_of.emplace(inputs[i].name, i);
  }
  std::vector<std::int64_t> limits(inputs.size(), -1);
  for (const OnnxNode& node : nodes) {
    if (node.inputs.empty() || node.outputs.empty()) continue;
    const bool same = node.op_type == "Cast" || node.op_type == "Identity";
    const auto table = rows_of.find(node.inputs[0]);
    if (same && input_of.contains(node.inputs[0])) {
      const std::size_t input = input_of.at(node.inputs[0]);
      input_of.emplace(node.outputs[0], input);
    }
    if ((same || node.op_type == "DequantizeLinear") &&
        table != rows_of.end()) {
      const std::int64_t count = table->second;
      rows_of.emplace(node.outputs[0], count);
      continue;
    }
    const bool gathers =
        node.op_type == "Gather" || node.op_type == "GatherBlockQuantized";
    if (!gathers || node.axis != 0 || node.inputs.size() < 2) continue;
    const auto indices = input_of.find(node.inputs[1]);
    if (table == rows_of.end() || indices == input_of.end()) continue;
    std::int64_t& limit = limits[indices->second];
    limit = limit < 0 ? table->second : std::min(limit, table->second);
  }
  std::vector<OnnxIndexInput> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (limits[i] >= 0) found.push_back({inputs[i].name, limits[i]});
  }
  return found;
}

}  // namespace modelrun
