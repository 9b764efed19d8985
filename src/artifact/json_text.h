// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "modelrun/structure.h"

namespace modelrun {

/// JSON with its keys in the order of the text.
using Json = nlohmann::ordered_json;

/// Parses JSON from outside, in linear time: no deeper than 128 levels, UTF-8
/// only, no key twice in an object. `NaN`, `Infinity` and `-Infinity`, which
/// Python writes, are numbers. Throws InvalidArgument that begins with `what`.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& what);

/// What a value is, for a message: `an object`, `the number 3`, `null`.
[[nodiscard]] std::string describe(const Json& value);

/// Throws InvalidArgument: "<where>: expected <expected>, got <value>".
[[noreturn]] void fail_json(const std::string& where, std::string_view expected,
                            const Json& value);

/// Each checks the type and throws InvalidArgument that begins with `where`.
[[nodiscard]] const std::string& json_string(const Json& value,
                                             const std::string& where);
[[nodiscard]] std::int64_t json_integer(const Json& value,
                                        const std::string& where);
[[nodiscard]] Scalar json_scalar(const Json& value, const std::string& where);
[[nodiscard]] const Json::object_t& json_object(const Json& value,
                                                const std::string& where);
[[nodiscard]] const Json::array_t& json_array(const Json& value,
                                              const std::string& where);

/// The value under a key of an object, null when there is none.
[[nodiscard]] const Json* json_find(const Json::object_t& object,
                                    std::string_view key) noexcept;

}  // namespace modelrun
