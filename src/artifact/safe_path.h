// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace modelrun {

/// The path of a file that untrusted text names below a directory.
///
/// Refused, by InvalidArgument that begins with `what` and before anything is
/// read: an empty name, absolute paths and drives, `..`, backslashes, control
/// characters, and links that lead out of the directory. A link may lead to
/// where the same repo's files are in a Hub cache (`models--*/blobs`), and a
/// link to nothing is NotFound. The path is returned below `directory` as
/// given, its links not followed: what lies beside a link is looked up there.
/// The file need not exist.
[[nodiscard]] std::filesystem::path resolve_within(
    const std::filesystem::path& directory, std::string_view name,
    const std::string& what);

/// Whether a name would pass `resolve_within` by its text alone.
[[nodiscard]] bool is_safe_relative(std::string_view name) noexcept;

/// A path for messages, as UTF-8.
[[nodiscard]] std::string display(const std::filesystem::path& path);

/// The whole content of a regular file of at most `limit` bytes. Throws
/// NotFound when there is none, InvalidArgument when it is larger.
[[nodiscard]] std::string load_text(const std::filesystem::path& path,
                                    std::size_t limit);

}  // namespace modelrun
