// SPDX-License-Identifier: Apache-2.0
#include "backend/library_file.h"

#include <charconv>
#include <optional>
#include <system_error>
#include <tuple>

namespace modelrun {

namespace fs = std::filesystem;

namespace {

using Version = std::vector<unsigned long>;

/// The version in a file name of this library, empty for the bare stem;
/// nothing for another file.
std::optional<Version> library_version(std::string_view file_name,
                                       std::string_view stem) {
  if (!file_name.starts_with(stem)) return std::nullopt;
  file_name.remove_prefix(stem.size());
  if (file_name.empty()) return Version{};
  if (file_name.front() != '.') return std::nullopt;
  Version version = version_numbers(file_name.substr(1));
  if (version.empty()) return std::nullopt;
  return version;
}

/// The larger of the name's version and that of the file it links to.
std::optional<Version> entry_version(const fs::path& path,
                                     std::string_view stem) {
  auto version = library_version(path.filename().string(), stem);
  std::error_code error;
  if (!version || !fs::is_regular_file(path, error)) return std::nullopt;
  const fs::path target = fs::canonical(path, error);
  if (error) return version;
  const auto linked = library_version(target.filename().string(), stem);
  return linked ? std::max(*version, *linked) : version;
}

}  // namespace

Version version_numbers(std::string_view text) {
  Version numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    unsigned long number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    if (next == end) return numbers;
    if (*next != '.') return {};
    at = next + 1;
  }
}

LibraryFile find_library_file(const fs::path& folder, std::string_view stem) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) {
    return {.path = {}, .result = "no such folder"};
  }
  if (error) return {.path = {}, .result = error.message()};
  LibraryFile best;
  Version best_version;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    const auto version = entry_version(path, stem);
    // Of several names of one version the longest is the file itself; the
    // order of a folder's entries is no rule.
    if (version && (best.path.empty() ||
                    std::forward_as_tuple(best_version, best.path.native()) <
                        std::forward_as_tuple(*version, path.native()))) {
      best = {.path = path, .result = "found"};
      best_version = *version;
    }
    if (error) break;
  }
  if (best.path.empty()) best.result = "holds no " + std::string(stem);
  return best;
}

}  // namespace modelrun
