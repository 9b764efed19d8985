// SPDX-License-Identifier: Apache-2.0
// The readers of tensor files: whatever the bytes, they are read or refused by
// an Error. Every reader gets every input.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "modelrun/error.h"
#include "tensor_file/json_tensors.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

namespace {

// Every element is read, so that a wrong bound is seen.
void touch(const modelrun::NamedValues& values) {
  for (const auto& [name, value] : values) {
    for (const auto& [path, tensor] : value.leaves()) {
      static_cast<void>(tensor.clone());
    }
  }
}

template <typename Read>
void expect_values_or_error(Read&& read) {
  try {
    touch(read());
  } catch (const modelrun::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  namespace detail = modelrun::detail;
  const int file = ::memfd_create("input", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const std::filesystem::path path = "/proc/self/fd/" + std::to_string(file);
  expect_values_or_error([&] {
    modelrun::NamedValues values;
    for (auto& [name, tensor] : detail::load_safetensors(path).tensors) {
      values.emplace_back(name, tensor);
    }
    return values;
  });
  expect_values_or_error([&] {
    modelrun::NamedValues values;
    values.emplace_back("array", detail::load_npy(path));
    return values;
  });
  expect_values_or_error([&] { return detail::load_npz(path); });
  expect_values_or_error([&] { return detail::load_json_tensors(path); });
  ::close(file);
  return 0;
}
