// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace modelrun::onnxruntime_test {

/// The protobuf wire format, as far as ONNX needs it.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& bytes(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) {
    return bytes(field, value.text_);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      text_ += static_cast<char>(value | 0x80);
    }
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

/// Numbers of TensorProto.DataType.
enum OnnxType : int {
  kFloat = 1,
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kInt32,
  kInt64,
  kString,
  kBool,
  kFloat16,
  kDouble,
  kUint32,
  kUint64,
  kBfloat16 = 16,
  kFloat8 = 17,
  kUint4 = 21,
  kInt4 = 22,
};

using Dim = std::variant<std::int64_t, std::string>;
using Dims = std::vector<Dim>;

inline Message dims_message(const Dims& dims) {
  Message shape;
  for (const Dim& dim : dims) {
    Message one;
    if (const auto* size = std::get_if<std::int64_t>(&dim)) {
      if (*size >= 0) one.number(1, static_cast<std::uint64_t>(*size));
    } else {
      one.bytes(2, std::get<std::string>(dim));
    }
    shape.message(1, one);
  }
  return shape;
}

inline Message tensor_type(int type, const Dims& dims) {
  return Message().message(1, Message()
                                  .number(1, static_cast<std::uint64_t>(type))
                                  .message(2, dims_message(dims)));
}

/// A tensor type that does not say its rank.
inline Message unranked_type(int type) {
  return Message().message(
      1, Message().number(1, static_cast<std::uint64_t>(type)));
}

inline Message int_attribute(const std::string& name, std::int64_t value) {
  return Message()
      .bytes(1, name)
      .number(3, static_cast<std::uint64_t>(value))
      .number(20, 2);
}

inline Message text_attribute(const std::string& name,
                              const std::string& value) {
  return Message().bytes(1, name).bytes(4, value).number(20, 3);
}

inline Message graph_attribute(const std::string& name, const Message& graph) {
  return Message().bytes(1, name).message(6, graph).number(20, 5);
}

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Message> attributes = {};
  std::string domain = "";
};

/// A graph written down by hand.
struct Graph {
  std::vector<std::pair<std::string, Message>> inputs;
  std::vector<std::pair<std::string, Message>> outputs;
  std::vector<Node> nodes;
  std::vector<Message> initializers = {};
  std::uint64_t ir_version = 10;
  std::uint64_t opset = 21;

  [[nodiscard]] Message graph_message() const {
    Message graph;
    for (const Node& node : nodes) {
      Message one;
      for (const auto& name : node.inputs) one.bytes(1, name);
      for (const auto& name : node.outputs) one.bytes(2, name);
      one.bytes(3, "the_" + node.op + "_of_" + node.outputs[0]);
      one.bytes(4, node.op);
      for (const auto& attribute : node.attributes) one.message(5, attribute);
      graph.message(1, one.bytes(7, node.domain));
    }
    graph.bytes(2, "graph");
    for (const auto& tensor : initializers) graph.message(5, tensor);
    for (const auto& [name, type] : inputs) {
      graph.message(11, Message().bytes(1, name).message(2, type));
    }
    for (const auto& [name, type] : outputs) {
      graph.message(12, Message().bytes(1, name).message(2, type));
    }
    return graph;
  }

  [[nodiscard]] std::string text() const {
    Message model;
    model.number(1, ir_version).message(7, graph_message());
    model.message(8, Message().bytes(1, "").number(2, opset));
    return model.message(8, Message().bytes(1, "my_ops").number(2, 1)).text();
  }
};

/// An initializer; `where` gives external_data instead of `raw`.
inline Message initializer(
    const std::string& name, int type, const std::vector<std::int64_t>& dims,
    const std::string& raw,
    const std::map<std::string, std::string>& where = {}) {
  Message tensor;
  for (const auto dim : dims) tensor.number(1, static_cast<std::uint64_t>(dim));
  tensor.number(2, static_cast<std::uint64_t>(type)).bytes(8, name);
  if (where.empty()) return tensor.bytes(9, raw);
  for (const auto& [key, value] : where) {
    tensor.message(13, Message().bytes(1, key).bytes(2, value));
  }
  return tensor.number(14, 1);
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

inline void write_file(const std::filesystem::path& path,
                       const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace modelrun::onnxruntime_test
