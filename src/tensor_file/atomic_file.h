// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>

namespace modelrun::detail {

/// A file that appears under its name whole or not at all: it is written
/// beside it, under a name of its own, and renamed by `commit`. Without that,
/// nothing is left behind.
///
/// Throws NotFound when the folder is not there, Error for what else goes
/// wrong.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The file to write to until `commit`.
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept {
    return temporary_;
  }
  void write(const void* data, std::size_t size);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
};

}  // namespace modelrun::detail
