// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tensor_view.h"

#include <algorithm>

#include "backends/common/failure.h"

namespace modelrun::plugin {
namespace {

/// Stands in for the address of an empty tensor: runtimes refuse NULL.
alignas(64) std::byte no_data[64];

std::string dtype_name(DLDataType dtype) {
  const std::string bits = std::to_string(static_cast<int>(dtype.bits));
  switch (dtype.code) {
    case kDLBool:
      return "bool";
    case kDLInt:
      return "int" + bits;
    case kDLUInt:
      return "uint" + bits;
    case kDLFloat:
      return "float" + bits;
    case kDLBfloat:
      return "bfloat" + bits;
    default:
      return "DLPack type " + std::to_string(static_cast<int>(dtype.code)) +
             " of " + bits + " bits";
  }
}

bool is_contiguous(const DLTensor& tensor) noexcept {
  if (tensor.strides == nullptr) return true;
  std::int64_t stride = 1;
  for (int axis = tensor.ndim; axis-- > 0;) {
    const std::int64_t size = tensor.shape[axis];
    if (size == 0) return true;
    if (size != 1 && tensor.strides[axis] != stride) return false;
    // The size was checked before: no product overflows.
    stride *= size;
  }
  return true;
}

void* address_of(const DLTensor& tensor) noexcept {
  return tensor.data == nullptr
             ? nullptr
             : static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

std::optional<std::size_t> byte_size(const std::int64_t* dims, std::size_t rank,
                                     DLDataType type) noexcept {
  // Multiplied out with 1 in place of 0: a product that overflows is refused
  // even when another axis is empty.
  std::size_t bits = type.bits;
  bool empty = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] < 0) return std::nullopt;
    empty = empty || dims[axis] == 0;
    const auto size =
        static_cast<std::size_t>(dims[axis] == 0 ? 1 : dims[axis]);
    if (__builtin_mul_overflow(bits, size, &bits)) return std::nullopt;
  }
  if (empty) return 0;
  return bits / 8 + (bits % 8 != 0);
}

std::string shown_tensor(DLDataType dtype, const std::int64_t* dims,
                         std::size_t rank) {
  std::string text = dtype_name(dtype) + "[";
  for (std::size_t axis = 0; axis < rank; ++axis) {
    text.append(axis == 0 ? "" : ", ").append(std::to_string(dims[axis]));
  }
  return text + "]";
}

bool is_same_dtype(DLDataType a, DLDataType b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool TensorView::holds(const DLTensor& tensor) const noexcept {
  return data != nullptr && (address_of(tensor) == data || bytes == 0) &&
         tensor.device.device_type == kDLCPU &&
         is_same_dtype(tensor.dtype, dtype) &&
         std::equal(dims.begin(), dims.end(), tensor.shape,
                    tensor.shape + tensor.ndim) &&
         is_contiguous(tensor);
}

bool TensorView::overlaps(const TensorView& other) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto other_begin = reinterpret_cast<std::uintptr_t>(other.data);
  return begin < other_begin + other.bytes && other_begin < begin + bytes;
}

void TensorView::assign(const DLTensor& tensor, const char* port) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    throw Failure(
        MODELRUN_INVALID_ARGUMENT,
        "cannot bind to '" + std::string(port) + "': the tensor has no shape");
  }
  if (tensor.device.device_type != kDLCPU) {
    refuse_tensor(
        tensor, port,
        "expected memory of the CPU, got that of another device: copy "
        "it to the CPU first");
  }
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const auto size = byte_size(tensor.shape, rank, tensor.dtype);
  if (!size) refuse_tensor(tensor, port, "no memory has this shape");
  if (!is_contiguous(tensor)) {
    refuse_tensor(tensor, port, "it is not contiguous");
  }
  if (*size != 0 && tensor.data == nullptr) {
    refuse_tensor(tensor, port, "its data pointer is null");
  }
  dims.assign(tensor.shape, tensor.shape + rank);
  data = *size == 0 ? no_data : address_of(tensor);
  bytes = *size;
  dtype = tensor.dtype;
}

TensorView checked_view(const DLTensor& tensor, const char* port) {
  TensorView view;
  view.assign(tensor, port);
  return view;
}

void refuse_tensor(const DLTensor& tensor, const char* port,
                   const std::string& why) {
  throw Failure(
      MODELRUN_INVALID_ARGUMENT,
      "cannot bind " +
          shown_tensor(tensor.dtype, tensor.shape,
                       static_cast<std::size_t>(std::max(tensor.ndim, 0))) +
          " to '" + port + "': " + why);
}

}  // namespace modelrun::plugin
