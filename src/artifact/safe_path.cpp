// SPDX-License-Identifier: Apache-2.0
#include "artifact/safe_path.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_below(const fs::path& path, const fs::path& directory) {
  const auto [end, rest] = std::mismatch(directory.begin(), directory.end(),
                                         path.begin(), path.end());
  return end == directory.end();
}

// The repo's own folder, when a directory lies in a Hub cache's snapshot,
// `models--org--name/snapshots/<revision>/...`; else the directory itself.
fs::path allowed_root(const fs::path& directory) {
  fs::path root;
  fs::path path;
  std::string previous;
  for (const fs::path& part : directory) {
    if (part == "snapshots" && previous.starts_with("models--")) root = path;
    path /= part;
    previous = part.string();
  }
  return root.empty() ? directory : root;
}

}  // namespace

bool is_safe_relative(std::string_view name) noexcept {
  if (name.empty() || name.front() == '/') return false;
  if (name.size() > 1 && is_letter(name[0]) && name[1] == ':') return false;
  bool names_something = false;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part == "..") return false;
    names_something = !part.empty() && part != ".";
    begin = end + 1;
  }
  return names_something && std::none_of(name.begin(), name.end(), [](char c) {
           return c == '\\' || (c >= 0 && c < 0x20) || c == 0x7F;
         });
}

fs::path resolve_within(const fs::path& directory, std::string_view name,
                        const std::string& what) {
  if (!is_safe_relative(name)) {
    throw InvalidArgument(
        what + ": expected a relative path within the directory, got " +
        printable(name));
  }
  const fs::path path = directory / fs::path(name);
  std::error_code error;
  const fs::path here = directory.empty() ? fs::path(".") : directory;
  const fs::path target = fs::weakly_canonical(here / name, error);
  if (error) {
    throw InvalidArgument(what + ": cannot follow " + display(path) + ": " +
                          error.message());
  }
  const fs::path base = (fs::weakly_canonical(here, error) / "").parent_path();
  if (fs::is_symlink(fs::symlink_status(path, error)) &&
      !fs::exists(path, error)) {
    throw NotFound(what + ": " + display(path) + " is a link to " +
                   display(fs::read_symlink(path, error)) +
                   ", which does not exist: download the files again");
  }
  if (!is_below(target, base) && !is_below(target, allowed_root(base))) {
    throw InvalidArgument(what + ": " + display(path) + " leads to " +
                          display(target) + ", which is outside of " +
                          display(base) + ": copy the file there");
  }
  return path;
}

std::string display(const fs::path& path) {
  const std::string quoted = printable(path.string());
  const std::string plain = path.string();
  return quoted == "'" + plain + "'" ? plain : quoted;
}

std::string load_text(const fs::path& path, std::size_t limit) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw NotFound(display(path) + ": is not a file that can be read");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 14];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit) {
      throw InvalidArgument(display(path) + ": is larger than the " +
                            std::to_string(limit >> 20) +
                            " MiB that such a file may have");
    }
  }
  if (!file.eof()) {
    throw NotFound(display(path) + ": cannot be read: check its permissions");
  }
  return text;
}

}  // namespace modelrun
