// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_scanner.h"

#include <algorithm>

#include "artifact/onnx_tensor_scan.h"
#include "artifact/onnx_value_scan.h"
#include "artifact/printable.h"

namespace modelrun {
namespace {

// protobuf's own parsers stop at 100 messages; a subgraph takes three.
constexpr int kMaxDepth = 32;

std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

void check_distinct(const std::vector<OnnxValue>& values, const char* what,
                    const std::uint8_t* where) {
  std::set<std::string_view> seen;
  for (const OnnxValue& value : values) {
    if (!seen.insert(value.name).second) {
      throw WireError(
          std::string("has two ") + what + "s named " + printable(value.name),
          where);
    }
  }
}

}  // namespace

void OnnxScanner::scan_model(Bytes model) {
  WireReader reader(model);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case 1:
        program_.ir_version = field->integer();
        break;
      case 2:
        program_.producer_name = field->text();
        break;
      case 3:
        program_.producer_version = field->text();
        break;
      case 7:
        has_graph_ = true;
        scan_graph(field->message(), 0);
        break;
      case 8:
        scan_opset(field->message());
        break;
      case 25:
        scan_function(field->message());
        break;
      default:
        break;
    }
  }
  finish(model.data());
}

void OnnxScanner::scan_opset(Bytes opset) {
  std::string_view domain;
  std::int64_t version = 0;
  WireReader reader(opset);
  while (const auto field = reader.next()) {
    if (field->number == 1) domain = field->text();
    if (field->number == 2) version = field->integer();
  }
  program_.opset_imports.emplace_back(plain_domain(domain), version);
}

void OnnxScanner::scan_graph(Bytes graph, int depth) {
  if (depth > kMaxDepth) {
    throw WireError("nests graphs deeper than " + std::to_string(kMaxDepth),
                    graph.data());
  }
  const bool main_graph = depth == 0;
  WireReader reader(graph);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case 1:
        scan_node(field->message(), depth, main_graph);
        break;
      case 5:
        scan_tensor(field->message(), "initializer", main_graph);
        break;
      case 11:
        if (main_graph)
          program_.inputs.push_back(scan_onnx_value(field->message()));
        break;
      case 12:
        if (main_graph) {
          program_.outputs.push_back(scan_onnx_value(field->message()));
        }
        break;
      case 15:
        scan_sparse_tensor(field->message(), "sparse initializer", main_graph);
        break;
      default:
        break;
    }
  }
}

void OnnxScanner::scan_function(Bytes function) {
  std::string_view name;
  std::string_view domain;
  WireReader reader(function);
  while (const auto field = reader.next()) {
    OnnxNode unused;
    if (field->number == 1) name = field->text();
    if (field->number == 10) domain = field->text();
    if (field->number == 7) scan_node(field->message(), 1, false);
    if (field->number == 11) {
      scan_attribute(field->message(), std::string(name), 1, unused);
    }
  }
  functions_.emplace(plain_domain(domain), name);
}

void OnnxScanner::scan_node(Bytes node, int depth, bool main_graph) {
  OnnxNode seen;
  std::string_view name;
  std::string_view domain;
  std::vector<Bytes> attributes;
  WireReader reader(node);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case 1:
        seen.inputs.push_back(field->text());
        break;
      case 2:
        seen.outputs.push_back(field->text());
        break;
      case 3:
        name = field->text();
        break;
      case 4:
        seen.op_type = field->text();
        break;
      case 5:
        attributes.push_back(field->message());
        break;
      case 7:
        domain = field->text();
        break;
      default:
        break;
    }
  }
  if (seen.op_type.empty())
    throw WireError("a node has no op_type", node.data());
  // Nodes without a name are told apart by what they make.
  if (name.empty() && !seen.outputs.empty()) name = seen.outputs[0];
  for (const Bytes& attribute : attributes) {
    scan_attribute(attribute, std::string(name), depth, seen);
  }
  operators_.emplace(plain_domain(domain), seen.op_type);
  if (main_graph) nodes_.push_back(std::move(seen));
}

void OnnxScanner::scan_attribute(Bytes attribute, const std::string& node,
                                 int depth, OnnxNode& seen) {
  std::string_view name;
  std::int64_t number = 0;
  WireReader reader(attribute);
  while (const auto field = reader.next()) {
    const auto holder = [&] {
      return "attribute " + printable(name) + " of node " + printable(node);
    };
    switch (field->number) {
      case 1:
        name = field->text();
        break;
      case 3:
        number = field->integer();
        break;
      case 5:
      case 10:
        scan_tensor(field->message(), holder(), false);
        break;
      case 6:
      case 11:
        scan_graph(field->message(), depth + 1);
        break;
      case 22:
      case 23:
        scan_sparse_tensor(field->message(), holder(), false);
        break;
      default:
        break;
    }
  }
  if (name == "axis" || name == "gather_axis") seen.axis = number;
}

void OnnxScanner::scan_tensor(Bytes message, const std::string& holder,
                              bool main_graph) {
  const OnnxTensorScan tensor(message);
  tensor.check_content();
  if (tensor.is_external()) {
    program_.external_data.push_back(tensor.external_data(holder));
  }
  if (__builtin_add_overflow(program_.initializer_bytes, tensor.byte_size(),
                             &program_.initializer_bytes)) {
    throw WireError("its tensors are larger than any file", tensor.begin());
  }
  if (!main_graph) return;
  initialized_.insert(tensor.name());
  if (!tensor.dims().empty()) rows_.emplace(tensor.name(), tensor.dims()[0]);
}

void OnnxScanner::scan_sparse_tensor(Bytes tensor, const std::string& holder,
                                     bool main_graph) {
  WireReader reader(tensor);
  while (const auto field = reader.next()) {
    if (field->number != 1 && field->number != 2) continue;
    scan_tensor(field->message(), holder, false);
    // The values carry the name of the whole.
    if (main_graph && field->number == 1) {
      initialized_.insert(OnnxTensorScan(field->message()).name());
    }
  }
}

void OnnxScanner::finish(const std::uint8_t* begin) {
  if (!has_graph_) throw WireError("has no graph", begin);
  if (program_.ir_version < 1) throw WireError("has no ir_version", begin);
  if (program_.ir_version >= 3 && program_.opset_imports.empty()) {
    throw WireError("has no opset_import", begin);
  }
  check_distinct(program_.inputs, "input", begin);
  check_distinct(program_.outputs, "output", begin);
  std::erase_if(program_.inputs, [&](const OnnxValue& input) {
    return initialized_.contains(input.name);
  });
  for (const auto& used : operators_) {
    if (functions_.contains(used)) continue;
    program_.operators.push_back(
        {std::string(used.first), std::string(used.second)});
    if (program_.domains.empty() || program_.domains.back() != used.first) {
      program_.domains.emplace_back(used.first);
    }
  }
  program_.index_inputs = find_index_inputs(nodes_, program_.inputs, rows_);
}

}  // namespace modelrun
