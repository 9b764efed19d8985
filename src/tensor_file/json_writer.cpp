// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "modelrun/error.h"
#include "tensor_file/atomic_file.h"
#include "tensor_file/json_tensors.h"

namespace modelrun::detail {
namespace {

// The shortest number that reads back as the same float or double, never as an
// integer.
template <typename T>
void append_float(std::string& text, T value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-Infinity" : "Infinity";
  } else {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    text.append(buffer, end);
    if (std::find_if(buffer, end,
                     [](char c) { return c == '.' || c == 'e'; }) == end) {
      text += ".0";
    }
  }
}

template <typename T>
void append_element(std::string& text, const T& element) {
  if constexpr (std::is_same_v<T, bool>) {
    text += element ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    text += std::to_string(element);
  } else if constexpr (std::is_same_v<T, double>) {
    append_float(text, element);
  } else {
    append_float(text, static_cast<float>(element));
  }
}

// Writes the elements below one axis, and steps over them.
template <typename T>
void append_nested(std::string& text, const Shape& shape, std::size_t axis,
                   const T*& element) {
  if (axis == shape.rank()) {
    append_element(text, *element++);
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i > 0) text += ", ";
    append_nested(text, shape, axis + 1, element);
  }
  text += ']';
}

template <typename T>
std::string nested_text(const Tensor& tensor, const Shape& shape) {
  std::string text;
  const T* element = static_cast<const T*>(tensor.raw_data());
  append_nested(text, shape, 0, element);
  return text;
}

std::string data_text(const Tensor& tensor, const Shape& shape) {
  switch (tensor.dtype()) {
    case DType::bool_:
      return nested_text<bool>(tensor, shape);
    case DType::uint8:
      return nested_text<std::uint8_t>(tensor, shape);
    case DType::uint16:
      return nested_text<std::uint16_t>(tensor, shape);
    case DType::uint32:
      return nested_text<std::uint32_t>(tensor, shape);
    case DType::uint64:
      return nested_text<std::uint64_t>(tensor, shape);
    case DType::int8:
      return nested_text<std::int8_t>(tensor, shape);
    case DType::int16:
      return nested_text<std::int16_t>(tensor, shape);
    case DType::int32:
      return nested_text<std::int32_t>(tensor, shape);
    case DType::int64:
      return nested_text<std::int64_t>(tensor, shape);
    case DType::float16:
      return nested_text<Float16>(tensor, shape);
    case DType::bfloat16:
      return nested_text<BFloat16>(tensor, shape);
    case DType::float32:
      return nested_text<float>(tensor, shape);
    case DType::float64:
      return nested_text<double>(tensor, shape);
    case DType::uint4:
    case DType::int4:
      break;
  }
  throw Unsupported("cannot save a tensor of " +
                    std::string(name(tensor.dtype())) +
                    " in JSON: it has no numbers for packed elements");
}

// Whether a plain nested list is read back as the same tensor.
bool is_plain(const Tensor& tensor) {
  return tensor.rank() > 0 && tensor.element_count() > 0 &&
         (tensor.dtype() == DType::int64 || tensor.dtype() == DType::float32 ||
          tensor.dtype() == DType::bool_);
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

}  // namespace

std::string json_quoted(std::string_view text) {
  if (const auto bad = find_invalid_utf8(text); bad != text.npos) {
    throw InvalidArgument("cannot save the text " + printable(text) +
                          ": it is not UTF-8, at byte " + std::to_string(bad));
  }
  return Json(text).dump();
}

std::string json_text(const Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    return json_quoted(*text);
  }
  std::string text;
  if (const auto* value = std::get_if<bool>(&scalar)) {
    append_element(text, *value);
  } else if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
    append_element(text, *integer);
  } else if (const auto* number = std::get_if<double>(&scalar)) {
    append_element(text, *number);
  } else {
    text = "null";
  }
  return text;
}

std::string json_text(const Tensor& tensor) {
  if (is_plain(tensor)) return data_text(tensor, tensor.shape());
  return "{\"dtype\": " + json_quoted(name(tensor.dtype())) +
         ", \"shape\": " + shape_text(tensor.shape()) +
         ", \"data\": " + data_text(tensor, {tensor.element_count()}) + "}";
}

void save_json_tensors(const FlatValues& values,
                       const std::filesystem::path& path) {
  AtomicFile file(path);
  const char* separator = "{\n  ";
  const auto write = [&](const std::string& name, const std::string& value) {
    const std::string text = separator + json_quoted(name) + ": " + value;
    file.write(text.data(), text.size());
    separator = ",\n  ";
  };
  for (const auto& [name, tensor] : values.tensors) {
    write(name, json_text(tensor));
  }
  for (const auto& [name, scalar] : values.scalars) {
    write(name, json_text(scalar));
  }
  const std::string_view end =
      values.tensors.empty() && values.scalars.empty() ? "{}\n" : "\n}\n";
  file.write(end.data(), end.size());
  file.commit();
}

}  // namespace modelrun::detail
