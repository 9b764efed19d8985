// SPDX-License-Identifier: Apache-2.0
#include "artifact/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int code) {
  throw NotFound(display(path) + ": cannot be opened: " +
                 std::generic_category().message(code));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(path, errno);
  struct stat status{};
  int code = ::fstat(file, &status) == 0 ? 0 : errno;
  if (code == 0 && !S_ISREG(status.st_mode)) code = EISDIR;
  if (code == 0 && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) {
      code = errno;
    } else {
      data_ = data;
      size_ = size;
    }
  }
  ::close(file);
  if (code != 0) fail(path, code);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

}  // namespace modelrun
