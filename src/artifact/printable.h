// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace modelrun {

/// Untrusted text as a message may show it: in single quotes, at most 120
/// bytes of it, with control characters and stray bytes as `\xNN`.
[[nodiscard]] std::string printable(std::string_view text);

/// The offset of the first byte that is not UTF-8, `npos` when all is.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text) noexcept;

}  // namespace modelrun
