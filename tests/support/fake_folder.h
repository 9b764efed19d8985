// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace modelrun::testing {

/// A new folder that goes with this object.
class FakeFolder {
 public:
  FakeFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "modelrun-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no temporary folder: " + name);
    }
    path_ = std::filesystem::canonical(name);
  }
  ~FakeFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FakeFolder(const FakeFolder&) = delete;
  FakeFolder& operator=(const FakeFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept {
    return path_;
  }

  /// Writes a file below the folder, with the folders it needs.
  std::filesystem::path write(const std::filesystem::path& name,
                              std::string_view text = {}) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace modelrun::testing
