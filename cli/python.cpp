// SPDX-License-Identifier: Apache-2.0
#include "cli/python.h"

#include <cstdlib>
#include <filesystem>

namespace modelrun::cli {

namespace fs = std::filesystem;

std::string python_of(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* active = std::getenv("VIRTUAL_ENV");
  if (active != nullptr && active[0] != '\0') {
    const fs::path python = fs::path(active) / "bin" / "python3";
    if (fs::exists(python)) return python.string();
  }
  return "python3";
}

}  // namespace modelrun::cli
