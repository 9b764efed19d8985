// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "artifact/onnx_embedding.h"
#include "artifact/onnx_program.h"
#include "artifact/protobuf_wire.h"

namespace modelrun {

/// Walks over the messages of one ONNX model and collects what an OnnxProgram
/// holds. Throws WireError for what is no such model.
class OnnxScanner {
 public:
  using Bytes = std::span<const std::uint8_t>;

  explicit OnnxScanner(OnnxProgram& program) : program_(program) {}

  void scan_model(Bytes model);

 private:
  void scan_opset(Bytes opset);
  void scan_graph(Bytes graph, int depth);
  void scan_function(Bytes function);
  void scan_node(Bytes node, int depth, bool main_graph);
  void scan_attribute(Bytes attribute, const std::string& node, int depth,
                      OnnxNode& seen);
  void scan_tensor(Bytes tensor, const std::string& holder, bool main_graph);
  void scan_sparse_tensor(Bytes tensor, const std::string& holder,
                          bool main_graph);
  void finish(const std::uint8_t* begin);

  OnnxProgram& program_;
  bool has_graph_ = false;
  std::vector<OnnxNode> nodes_;
  std::unordered_map<std::string_view, std::int64_t> rows_;
  std::set<std::string_view> initialized_;
  std::set<std::pair<std::string_view, std::string_view>> operators_;
  std::set<std::pair<std::string_view, std::string_view>> functions_;
};

}  // namespace modelrun
