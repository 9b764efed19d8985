// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cwchar>

namespace modelrun::cli {
namespace {

// One character of UTF-8 text: its bytes and the columns that it takes.
struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
  bool is_control = false;
};

Character character_at(std::string_view text, std::size_t at) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t bytes =
      std::mbrtowc(&wide, text.data() + at, text.size() - at, &state);
  if (bytes == 0) return {1, 0, true};
  // What is not UTF-8 may mean anything to a terminal.
  if (bytes > text.size()) return {1, 1, true};
  const int columns = ::wcwidth(wide);
  return {bytes, columns < 0 ? 0 : static_cast<std::size_t>(columns),
          wide < 0x20 || (wide >= 0x7f && wide < 0xa0)};
}

}  // namespace

bool is_terminal(std::FILE* stream) noexcept {
  return ::isatty(::fileno(stream)) == 1;
}

bool wants_color(std::FILE* stream) noexcept {
  const char* none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return is_terminal(stream);
}

std::size_t terminal_width() noexcept {
  winsize size{};
  if (!is_terminal(stdout) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
    return 0;
  }
  return size.ws_col;
}

std::string styled(std::string_view text, const char* style,
                   std::FILE* stream) {
  if (!wants_color(stream)) return std::string(text);
  return "\x1b[" + std::string(style) + "m" + std::string(text) + "\x1b[0m";
}

std::string clean(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.is_control) {
      result += ' ';
    } else {
      result += text.substr(at, character.bytes);
    }
    at += character.bytes;
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    width += character.columns;
    at += character.bytes;
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string result;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (used + character.columns > width - 1) break;
    used += character.columns;
    result += text.substr(at, character.bytes);
    at += character.bytes;
  }
  return result + "…";
}

std::string padded(std::string_view text, std::size_t width,
                   bool right_aligned) {
  const std::size_t used = display_width(text);
  const std::string spaces(width > used ? width - used : 0, ' ');
  return right_aligned ? spaces + std::string(text)
                       : std::string(text) + spaces;
}

}  // namespace modelrun::cli
