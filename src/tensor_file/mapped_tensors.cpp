// SPDX-License-Identifier: Apache-2.0
#include "tensor_file/mapped_tensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string because(int error) {
  return std::generic_category().message(error);
}

}  // namespace

std::shared_ptr<const MappedTensors> MappedTensors::open(
    const std::filesystem::path& path) {
  // Not blocking: a pipe without a writer would never open.
  const Descriptor file{
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const int error = errno;
    const auto message = "cannot read " + display(path) + ": " + because(error);
    if (error == ENOENT || error == ENOTDIR) throw NotFound(message);
    throw InvalidArgument(message);
  }
  struct stat status{};
  if (::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw InvalidArgument("cannot read " + display(path) +
                          ": expected a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = nullptr;
  if (size > 0) {
    data =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.fd, 0);
    if (data == MAP_FAILED) {
      throw InvalidArgument("cannot read " + display(path) + ": " +
                            because(errno));
    }
  }
  return std::shared_ptr<const MappedTensors>(new MappedTensors(data, size));
}

MappedTensors::~MappedTensors() {
  if (size_ > 0) ::munmap(data_, size_);
}

Tensor MappedTensors::tensor(std::size_t offset, TensorLayout layout) const {
  auto* data = static_cast<char*>(data_) + offset;
  const auto element =
      static_cast<std::size_t>(std::max(bits(layout.dtype) / 8, 1));
  if (reinterpret_cast<std::uintptr_t>(data) % element == 0) {
    return Tensor::view(static_cast<void*>(data), std::move(layout),
                        shared_from_this());
  }
  Tensor copy = Tensor::empty(layout.dtype, std::move(layout.shape));
  std::memcpy(copy.raw_data(), data, copy.byte_size());
  return copy;
}

void check_bools(const Tensor& tensor, const std::string& what) {
  if (tensor.dtype() != DType::bool_) return;
  const std::span bytes(static_cast<const unsigned char*>(tensor.raw_data()),
                        tensor.byte_size());
  const auto bad = std::find_if(bytes.begin(), bytes.end(),
                                [](unsigned char byte) { return byte > 1; });
  if (bad == bytes.end()) return;
  throw InvalidArgument(what + ": expected bools, bytes of 0 or 1, got " +
                        std::to_string(*bad) + " at element " +
                        std::to_string(bad - bytes.begin()));
}

}  // namespace modelrun::detail
