// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun {

/// The numbers of `"1.32.0"`; empty when the text is not numbers and dots.
[[nodiscard]] std::vector<unsigned long> version_numbers(std::string_view text);

/// A shared library in a folder, or why there is none.
struct LibraryFile {
  /// Empty when none was found.
  std::filesystem::path path;
  /// `"found"`, or why not.
  std::string result;
};

/// Looks in `folder`, not below it, for `stem` (`"libx.so"`) and its versions
/// (`"libx.so.1.32.0"`). The newest wins, compared by its numbers; a link
/// counts as what it points to.
[[nodiscard]] LibraryFile find_library_file(const std::filesystem::path& folder,
                                            std::string_view stem);

}  // namespace modelrun
