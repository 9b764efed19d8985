// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "artifact/printable.h"

namespace modelrun::cli {

void check_arguments(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (find_invalid_utf8(arguments[i]) == std::string_view::npos) continue;
    throw InvalidArgument("argument " + std::to_string(i) + ", " +
                          printable(arguments[i]) + ", is not UTF-8");
  }
}

Scalar scalar_of(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (text == "null") return std::monostate();
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  const auto as_integer =
      std::from_chars(text.data(), text.data() + text.size(), integer);
  if (as_integer.ec == std::errc() && as_integer.ptr == end) return integer;
  double number = 0;
  const auto as_number =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (as_number.ec == std::errc() && as_number.ptr == end) return number;
  return std::string(text);
}

std::string readable_size(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes,
                kUnits[unit]);
  return text;
}

}  // namespace modelrun::cli
