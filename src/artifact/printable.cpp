// SPDX-License-Identifier: Apache-2.0
#include "artifact/printable.h"

#include <cstdint>

namespace modelrun {
namespace {

constexpr std::size_t kShown = 120;

// The length of the UTF-8 sequence that `text` begins with, 0 when it begins
// with none: overlong forms, surrogates and values past U+10FFFF are none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
  };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) > 0x9F) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) > 0x8F) return 0;
  return length;
}

void append_escaped(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<std::uint8_t>(c);
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = sequence_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string out = "'";
  std::size_t i = 0;
  while (i < text.size() && i < kShown) {
    const std::size_t length = sequence_length(text.substr(i));
    const bool control = text[i] >= 0 && (text[i] < 0x20 || text[i] == 0x7F);
    if (length == 0 || control) {
      append_escaped(out, text[i]);
      ++i;
      continue;
    }
    out += text.substr(i, length);
    i += length;
  }
  out += i < text.size() ? "'..." : "'";
  return out;
}

}  // namespace modelrun
