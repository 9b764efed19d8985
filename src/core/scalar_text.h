// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace modelrun {

/// The shortest text that reads back as the same double, as Python's `repr`
/// writes it: `1.0`, `0.1`, `1e-05`, `nan`, `-inf`.
[[nodiscard]] inline std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Python writes an exponent below 1e-4 and from 1e16 on only.
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[32];
  const auto end = std::to_chars(
      buffer, buffer + sizeof buffer, value,
      plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// A string in quotes on one line, as Python's `repr` writes it.
[[nodiscard]] inline std::string quoted_text(std::string_view value) {
  const bool has_single = value.find('\'') != std::string_view::npos;
  const bool has_double = value.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text(1, quote);
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      text += {'\\', c};
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      text += c;
    }
  }
  return text + quote;
}

}  // namespace modelrun
