// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_scanner.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "artifact/onnx_types.h"
#include "artifact/printable.h"

namespace modelrun {
namespace {

// protobuf's own parsers stop at 100 messages; a subgraph takes three.
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxRank = 64;

std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::uint64_t to_number(std::string_view text, const std::string& what,
                        const std::uint8_t* where) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw WireError(what + " is " + printable(text) + ", expected a number",
                    where);
  }
  return value;
}

// "7" is the number 7; "" stands for a dimension that is not known.
OnnxDim to_dim(std::string_view symbol) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(symbol.data(), symbol.data() + symbol.size(), value);
  const bool number = error == std::errc() && value >= 0 &&
                      end == symbol.data() + symbol.size() && !symbol.empty();
  if (number) return value;
  return std::string(symbol);
}

OnnxDim scan_dim(WireReader reader) {
  OnnxDim dim = std::string();
  while (const auto field = reader.next()) {
    if (field->number == 1) {
      const std::int64_t size = field->integer();
      // Some exporters write -1 for a size that is not known.
      dim = size < 0 ? OnnxDim(std::string()) : OnnxDim(size);
    }
    if (field->number == 2) {
      if (find_invalid_utf8(field->text()) != std::string_view::npos) {
        throw WireError("holds a dimension whose name is not UTF-8",
                        field->begin);
      }
      dim = to_dim(field->text());
    }
  }
  return dim;
}

void scan_tensor_type(WireReader reader, OnnxValue& value) {
  while (const auto field = reader.next()) {
    if (field->number == 1) {
      const OnnxElement* element = onnx_element(field->integer());
      value.type = element != nullptr ? element->name : "unknown";
      if (element != nullptr) value.dtype = element->dtype;
    }
    if (field->number == 2) {
      std::vector<OnnxDim>& dims = value.dims.emplace();
      WireReader shape(field->message());
      while (const auto dim = shape.next()) {
        if (dim->number != 1) continue;
        dims.push_back(scan_dim(WireReader(dim->message())));
        if (dims.size() > kMaxRank) {
          throw WireError("holds a shape of more than " +
                              std::to_string(kMaxRank) + " axes",
                          dim->begin);
        }
      }
    }
  }
}

void check_name(std::string_view name, const char* what,
                const std::uint8_t* where) {
  if (name.empty()) throw WireError(std::string(what) + " has no name", where);
  if (find_invalid_utf8(name) != std::string_view::npos) {
    throw WireError(std::string(what) + " has a name that is not UTF-8",
                    where);
  }
}

void check_distinct(const std::vector<OnnxValue>& values, const char* what,
                    const std::uint8_t* where) {
  std::set<std::string_view> seen;
  for (const OnnxValue& value : values) {
    if (!seen.insert(value.name).second) {
      throw WireError(std::string("has two ") + what + "s named " +
                          printable(value.name),
                      where);
    }
  }
}

}  // namespace

// What one TensorProto says.
struct OnnxScanner::TensorScan {
  const std::uint8_t* begin = nullptr;
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::int64_t type = 0;
  bool external = false;
  // Bytes in the file; a length only, for raw bytes.
  std::uint64_t stored = 0;
  bool raw = false;
  std::map<std::string_view, std::string_view> entries;

  explicit TensorScan(Bytes tensor) : begin(tensor.data()) {
    WireReader reader(tensor);
    while (const auto field = reader.next()) scan(*field);
  }

  void scan(const WireField& field) {
    switch (field.number) {
      case 1:
        scan_dims(field);
        break;
      case 2:
        type = field.integer();
        break;
      case 8:
        name = field.text();
        break;
      case 9:
        raw = true;
        [[fallthrough]];
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11:
        stored += field.bytes.size();
        break;
      case 13:
        scan_entry(WireReader(field.message()));
        break;
      case 14:
        external = field.integer() == 1;
        break;
      default:
        break;
    }
  }

  void scan_dims(const WireField& field) {
    if (field.wire_type == 2) {
      WireReader packed(field.bytes);
      while (const auto size = packed.next_packed()) dims.push_back(*size);
    } else {
      dims.push_back(field.integer());
    }
    if (dims.size() > kMaxRank) {
      throw WireError("holds a tensor of more than " +
                          std::to_string(kMaxRank) + " axes",
                      field.begin);
    }
  }

  void scan_entry(WireReader reader) {
    std::string_view key;
    std::string_view value;
    while (const auto field = reader.next()) {
      if (field->number == 1) key = field->text();
      if (field->number == 2) value = field->text();
    }
    entries[key] = value;
  }

  std::string label() const { return "tensor " + printable(name); }

  // What the shape needs in bytes; nothing for strings and types to come.
  std::optional<std::uint64_t> needed() const {
    const OnnxElement* element = onnx_element(type);
    std::uint64_t count = 1;
    for (const std::int64_t size : dims) {
      if (size < 0 || __builtin_mul_overflow(
                          count, static_cast<std::uint64_t>(size), &count)) {
        throw WireError(label() + " has an impossible shape", begin);
      }
    }
    if (element == nullptr || element->bits == 0) return std::nullopt;
    if (count > std::numeric_limits<std::int64_t>::max() / element->bits) {
      throw WireError(label() + " has an impossible shape", begin);
    }
    return (count * element->bits + 7) / 8;
  }
};

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
        if (main_graph) program_.inputs.push_back(scan_value(field->message()));
        break;
      case 12:
        if (main_graph) {
          program_.outputs.push_back(scan_value(field->message()));
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
  if (seen.op_type.empty()) throw WireError("a node has no op_type", node.data());
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
  const TensorScan tensor(message);
  const std::optional<std::uint64_t> needed = tensor.needed();
  if (tensor.raw && !tensor.external && needed && tensor.stored != *needed) {
    throw WireError(tensor.label() + " holds " +
                        std::to_string(tensor.stored) +
                        " bytes, its shape needs " + std::to_string(*needed),
                    tensor.begin);
  }
  if (tensor.external) add_external(tensor, holder, needed.value_or(0));
  const std::uint64_t size = needed.value_or(tensor.stored);
  if (__builtin_add_overflow(program_.initializer_bytes, size,
                             &program_.initializer_bytes)) {
    throw WireError("its tensors are larger than any file", tensor.begin);
  }
  if (!main_graph) return;
  initialized_.insert(tensor.name);
  if (!tensor.dims.empty()) rows_.emplace(tensor.name, tensor.dims[0]);
}

void OnnxScanner::scan_sparse_tensor(Bytes tensor, const std::string& holder,
                                     bool main_graph) {
  WireReader reader(tensor);
  while (const auto field = reader.next()) {
    if (field->number == 1) {
      const TensorScan values(field->message());
      if (main_graph) initialized_.insert(values.name);
      scan_tensor(field->message(), holder, false);
    }
    if (field->number == 2) scan_tensor(field->message(), holder, false);
  }
}

void OnnxScanner::add_external(const TensorScan& tensor,
                               const std::string& holder,
                               std::uint64_t needed) {
  const auto find = [&](std::string_view key) -> std::string_view {
    const auto found = tensor.entries.find(key);
    return found == tensor.entries.end() ? "" : found->second;
  };
  OnnxExternalData data;
  data.tensor = tensor.name;
  data.holder = holder;
  data.location = find("location");
  if (data.location.empty()) {
    throw WireError(tensor.label() + " lies in another file, but its location "
                                     "is missing",
                    tensor.begin);
  }
  const std::string_view offset = find("offset");
  const std::string_view length = find("length");
  if (!offset.empty()) {
    data.offset =
        to_number(offset, "the offset of " + tensor.label(), tensor.begin);
  }
  data.length = needed;
  if (!length.empty()) {
    data.length =
        to_number(length, "the length of " + tensor.label(), tensor.begin);
  }
  if (data.length < needed) {
    throw WireError(tensor.label() + " records a length of " +
                        std::to_string(data.length) +
                        " bytes, its shape needs " + std::to_string(needed),
                    tensor.begin);
  }
  program_.external_data.push_back(std::move(data));
}

OnnxValue OnnxScanner::scan_value(Bytes message) const {
  OnnxValue value;
  value.type = "unknown";
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) value.name = field->text();
    if (field->number != 2) continue;
    WireReader type(field->message());
    while (const auto kind = type.next()) {
      if (kind->number == 1) scan_tensor_type(WireReader(kind->message()), value);
      if (kind->number == 4) value.type = "sequence";
      if (kind->number == 5) value.type = "map";
      if (kind->number == 8) value.type = "sparse tensor";
      if (kind->number == 9) value.type = "optional";
    }
  }
  check_name(value.name, "an input or output", message.data());
  return value;
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
