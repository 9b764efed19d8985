// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace modelrun::cli {

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

/// Whether colours are wanted: on a terminal that is not dumb, unless NO_COLOR
/// is set.
[[nodiscard]] bool wants_color(std::FILE* stream) noexcept;

/// Columns of the terminal that stdout is; 0 when it is none.
[[nodiscard]] std::size_t terminal_width() noexcept;

/// The text within an escape sequence such as `"1"` (bold) or `"31"` (red),
/// where the stream wants colours.
[[nodiscard]] std::string styled(std::string_view text, const char* style,
                                 std::FILE* stream);

/// Text from outside as a terminal may show it: on one line, without control
/// characters.
[[nodiscard]] std::string clean(std::string_view text);

/// Columns that UTF-8 text takes on a terminal.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The beginning of a text that takes at most `width` columns, with `…` where
/// something is left out.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// The text with spaces to `width` columns.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width,
                                 bool right_aligned = false);

}  // namespace modelrun::cli
