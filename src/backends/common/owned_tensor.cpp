// SPDX-License-Identifier: Apache-2.0
#include "backends/common/owned_tensor.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "backends/common/failure.h"
#include "backends/common/tensor_view.h"

namespace modelrun::plugin {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t aligned(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

/// The struct, the shape, the strides and the elements are one allocation.
void delete_owned(DLManagedTensorVersioned* tensor) {
  ::operator delete(static_cast<void*>(tensor), std::align_val_t{kAlignment});
}

}  // namespace

DLManagedTensorVersioned* make_owned_tensor(
    DLDataType dtype, std::span<const std::int64_t> dims) {
  const auto bytes = byte_size(dims.data(), dims.size(), dtype);
  const std::size_t head = aligned(sizeof(DLManagedTensorVersioned) +
                                   2 * dims.size() * sizeof(std::int64_t));
  std::size_t size = 0;
  if (!bytes || __builtin_add_overflow(head, *bytes, &size)) {
    throw Failure(MODELRUN_BACKEND_ERROR,
                  "no memory has the shape of a result, " +
                      shown_tensor(dtype, dims.data(), dims.size()));
  }
  void* memory = ::operator new(size, std::align_val_t{kAlignment});
  auto* tensor = new (memory) DLManagedTensorVersioned{};
  auto* shape = reinterpret_cast<std::int64_t*>(tensor + 1);
  std::copy(dims.begin(), dims.end(), shape);
  std::int64_t* strides = shape + dims.size();
  std::int64_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0; stride *= shape[axis]) {
    strides[axis] = stride;
  }
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->deleter = delete_owned;
  tensor->dl_tensor = {.data = static_cast<std::byte*>(memory) + head,
                       .device = {kDLCPU, 0},
                       .ndim = static_cast<std::int32_t>(dims.size()),
                       .dtype = dtype,
                       .shape = shape,
                       .strides = strides,
                       .byte_offset = 0};
  return tensor;
}

}  // namespace modelrun::plugin
