// SPDX-License-Identifier: Apache-2.0
#include "cli/json_output.h"

#include <cstdio>
#include <type_traits>
#include <variant>

#include "tensor_file/json_tensors.h"

namespace modelrun::cli {
namespace {

std::string dumped(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

bool has_keys(Structure::Kind kind) {
  return kind == Structure::Kind::dict || kind == Structure::Kind::object;
}

}  // namespace

Json to_json(const Scalar& scalar) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      scalar);
}

Json to_json(const Structure& structure) {
  if (structure.is_leaf()) return {{"leaf", structure.leaf_index()}};
  if (structure.is_constant()) return {{"value", to_json(structure.value())}};
  const bool keyed = has_keys(structure.kind());
  Json children = keyed ? Json::object() : Json::array();
  for (std::size_t i = 0; i < structure.size(); ++i) {
    if (keyed) {
      children[structure.step(i)] = to_json(structure.child(i));
    } else {
      children.push_back(to_json(structure.child(i)));
    }
  }
  return {{"class", structure.class_name()},
          {keyed ? "fields" : "items", std::move(children)}};
}

Json to_json(const Shape& shape) {
  Json sizes = Json::array();
  for (const std::int64_t size : shape) sizes.push_back(size);
  return sizes;
}

Json to_json(const Value& value) {
  if (value.is_tensor()) {
    return {{"dtype", name(value.tensor().dtype())},
            {"shape", to_json(value.tensor().shape())}};
  }
  if (value.is_scalar()) return to_json(value.scalar());
  const bool keyed = has_keys(value.kind());
  Json children = keyed ? Json::object() : Json::array();
  const auto keys = value.keys();
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (keyed) {
      children[keys[i]] = to_json(value[i]);
    } else {
      children.push_back(to_json(value[i]));
    }
  }
  return children;
}

std::string with_matrix(const Json& object, std::string_view key,
                        const Tensor& matrix) {
  std::string text = dumped(object);
  text.erase(text.rfind("\n}"));
  return text + ",\n  " + detail::json_quoted(key) + ": " +
         detail::json_text(matrix) + "\n}";
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_json(const Json& object) {
  print(std::string_view(dumped(object) + "\n"));
}

}  // namespace modelrun::cli
