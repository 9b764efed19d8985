// SPDX-License-Identifier: Apache-2.0
#include "tensor_file/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

// What a file made by open(2) would have; umask can only be read by setting it,
// which other threads would see, so the kernel's own view is read instead.
mode_t new_file_mode() {
  mode_t mask = 022;
  try {
    const std::string status = load_text("/proc/self/status", 1 << 20);
    if (const auto at = status.find("Umask:\t"); at != status.npos) {
      mask = static_cast<mode_t>(std::strtoul(&status[at + 7], nullptr, 8));
    }
  } catch (const Error&) {
    // No /proc: the usual mask.
  }
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  // A link stays one: what it points to is replaced.
  if (std::filesystem::is_symlink(path_, ignored)) {
    path_ = std::filesystem::weakly_canonical(path_, ignored);
  }
  if (std::filesystem::is_directory(path_, ignored)) fail(EISDIR);
  std::string name =
      (path_.parent_path() / ("." + path_.filename().string() + ".XXXXXX"))
          .string();
  fd_ = ::mkstemp(name.data());
  if (fd_ < 0) fail(errno);
  temporary_ = name;
  ::fchmod(fd_, new_file_mode());
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) fail(errno);
}

void AtomicFile::fail(int error) const {
  const auto message = "cannot write " + display(path_) + ": " +
                       std::generic_category().message(error);
  if (error == ENOENT) throw NotFound(message);
  throw Error(message);
}

}  // namespace modelrun::detail
