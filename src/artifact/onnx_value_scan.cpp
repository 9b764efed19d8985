// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_value_scan.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "artifact/onnx_types.h"
#include "artifact/printable.h"
#include "artifact/protobuf_wire.h"

namespace modelrun {
namespace {

constexpr std::size_t kMaxRank = 64;

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
    throw WireError(std::string(what) + " has a name that is not UTF-8", where);
  }
}

}  // namespace

OnnxValue scan_onnx_value(std::span<const std::uint8_t> message) {
  OnnxValue value;
  value.type = "unknown";
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) value.name = field->text();
    if (field->number != 2) continue;
    WireReader type(field->message());
    while (const auto kind = type.next()) {
      if (kind->number == 1)
        scan_tensor_type(WireReader(kind->message()), value);
      if (kind->number == 4) value.type = "sequence";
      if (kind->number == 5) value.type = "map";
      if (kind->number == 8) value.type = "sparse tensor";
      if (kind->number == 9) value.type = "optional";
    }
  }
  check_name(value.name, "an input or output", message.data());
  return value;
}

}  // namespace modelrun
