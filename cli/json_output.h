// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "modelrun/structure.h"
#include "modelrun/tensor.h"
#include "modelrun/value.h"

namespace modelrun::cli {

using Json = nlohmann::ordered_json;

/// A structure as nested objects: `{"class", "items"}` for tuples and lists,
/// `{"class", "fields"}` for dicts and objects, `{"leaf": n}`, `{"value": x}`.
[[nodiscard]] Json to_json(const Structure& structure);
[[nodiscard]] Json to_json(const Scalar& scalar);
/// A nest of scalars as plain JSON; a tensor as its dtype and shape.
[[nodiscard]] Json to_json(const Value& value);
[[nodiscard]] Json to_json(const Shape& shape);

/// `{"key": [[...]], ...}`: an object with a float32 matrix, whose numbers are
/// the shortest that read back as the same, as its last member.
[[nodiscard]] std::string with_matrix(const Json& object, std::string_view key,
                                      const Tensor& matrix);

/// One JSON object on stdout; text that is not UTF-8 is replaced.
void print_json(const Json& object);
void print(std::string_view text);

}  // namespace modelrun::cli
