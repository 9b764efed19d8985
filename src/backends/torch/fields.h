// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/json_text.h"

namespace modelrun::torch {

/// The value under a key of an object; throws InvalidArgument naming the key.
[[nodiscard]] const Json& member(const Json& object, const char* key);
/// The same, null when the key is not there or is null itself.
[[nodiscard]] const Json* optional_member(const Json& object, const char* key);

/// What torch writes for a union: one key that says which member is set.
struct Tagged {
  const std::string& kind;
  const Json& value;
};
[[nodiscard]] Tagged tagged(const Json& value, const char* what);

[[nodiscard]] const std::string& text_of(const Json& object, const char* key);
[[nodiscard]] const Json::array_t& list_of(const Json& object, const char* key);
/// A list of `{"as_int": n}`, each 0 or more.
[[nodiscard]] std::vector<std::int64_t> sizes_of(const Json& object,
                                                 const char* key);

}  // namespace modelrun::torch
