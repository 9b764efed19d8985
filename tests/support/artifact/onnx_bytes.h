// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun::testing {

/// Writes protobuf messages by hand, so that tests can make wrong ones, too.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view content) {
    varint(field << 3 | 2);
    varint(content.size());
    bytes_ += content;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& content) {
    return text(field, content.bytes_);
  }
  Message& raw(std::string_view content) {
    bytes_ += content;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// A ValueInfoProto of a float32 tensor; sizes are numbers, all else symbols.
inline Message onnx_value(std::string_view name,
                          const std::vector<std::string>& dims,
                          std::uint64_t type = 1) {
  Message shape;
  for (const std::string& dim : dims) {
    shape.message(1, Message().text(2, dim));
  }
  const Message tensor = Message().number(1, type).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, tensor));
}

/// A TensorProto of float32 with its bytes inside.
inline Message onnx_tensor(std::string_view name,
                           std::initializer_list<std::uint64_t> dims) {
  Message tensor;
  std::uint64_t count = 1;
  for (const std::uint64_t size : dims) {
    tensor.number(1, size);
    count *= size;
  }
  return tensor.number(2, 1).text(8, name).text(9,
                                                std::string(count * 4, '\0'));
}

/// A TensorProto of float32 whose bytes lie in another file.
inline Message onnx_external(std::string_view name, std::uint64_t size,
                             std::string_view location,
                             std::string_view offset = "",
                             std::string_view length = "") {
  Message tensor;
  tensor.number(1, size).number(2, 1).text(8, name).number(14, 1);
  const auto entry = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) {
      tensor.message(13, Message().text(1, key).text(2, value));
    }
  };
  entry("location", location);
  entry("offset", offset);
  entry("length", length);
  return tensor;
}

inline Message onnx_node(std::string_view op,
                         std::initializer_list<std::string_view> inputs,
                         std::initializer_list<std::string_view> outputs) {
  Message node;
  for (const std::string_view input : inputs) node.text(1, input);
  for (const std::string_view output : outputs) node.text(2, output);
  return node.text(4, op);
}

/// A ModelProto around a graph, with the fields that every model has.
inline Message onnx_model(const Message& graph) {
  return Message()
      .number(1, 10)
      .text(2, "test")
      .message(8, Message().text(1, "").number(2, 20))
      .message(7, graph);
}

}  // namespace modelrun::testing
