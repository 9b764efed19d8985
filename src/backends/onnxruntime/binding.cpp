// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/binding.h"

#include <algorithm>
#include <cstring>

#include "backends/onnxruntime/element_type.h"

namespace modelrun::onnxruntime {
namespace {

/// Stands in for the address of an empty tensor: the runtime refuses NULL.
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

std::string shown_tensor(DLDataType dtype, const std::int64_t* dims,
                         std::size_t rank) {
  std::string text = dtype_name(dtype) + "[";
  for (std::size_t axis = 0; axis < rank; ++axis) {
    text.append(axis == 0 ? "" : ", ").append(std::to_string(dims[axis]));
  }
  return text + "]";
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

[[noreturn]] void refuse(const char* port, const DLTensor& tensor,
                         const std::string& why) {
  throw Failure(
      MODELRUN_INVALID_ARGUMENT,
      "cannot bind " +
          shown_tensor(tensor.dtype, tensor.shape,
                       static_cast<std::size_t>(std::max(tensor.ndim, 0))) +
          " to '" + port + "': " + why);
}

}  // namespace

void Binding::bind(const DLTensor& tensor, const char* port) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    throw Failure(
        MODELRUN_INVALID_ARGUMENT,
        "cannot bind to '" + std::string(port) + "': the tensor has no shape");
  }
  void* data = tensor.data == nullptr
                   ? nullptr
                   : static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (holds(tensor, data)) return;
  if (tensor.device.device_type != kDLCPU) {
    refuse(port, tensor,
           "expected memory of the CPU, got that of another "
           "device: copy it to the CPU first");
  }
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const auto element = to_onnx(tensor.dtype);
  if (!element) refuse(port, tensor, "ONNX has no such element type");
  const auto bytes = byte_size(tensor.shape, rank, tensor.dtype);
  if (!bytes) refuse(port, tensor, "no memory has this shape");
  if (!is_contiguous(tensor)) refuse(port, tensor, "it is not contiguous");
  if (*bytes == 0) {
    data = no_data;
  } else if (tensor.data == nullptr) {
    refuse(port, tensor, "its data pointer is null");
  }
  dims_.reserve(rank);
  OrtValue* value = nullptr;
  runtime_->check(runtime_->api().CreateTensorWithDataAsOrtValue(
                      runtime_->cpu_memory(), data, *bytes, tensor.shape, rank,
                      *element, &value),
                  port);
  value_.reset(value);
  data_ = data;
  bytes_ = *bytes;
  dtype_ = tensor.dtype;
  dims_.assign(tensor.shape, tensor.shape + rank);
}

void Binding::copy_from(const Binding& source, const char* port) const {
  const bool fits = dims_ == source.dims_ &&
                    dtype_.code == source.dtype_.code &&
                    dtype_.bits == source.dtype_.bits;
  if (!fits) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "output '" + std::string(port) + "' is bound to " + shown() +
                      ", but is the input of that name, " + source.shown());
  }
  std::memmove(data_, source.data_, bytes_);
}

bool Binding::holds(const DLTensor& tensor, const void* data) const noexcept {
  return value_ != nullptr && (data == data_ || bytes_ == 0) &&
         tensor.device.device_type == kDLCPU &&
         tensor.dtype.code == dtype_.code && tensor.dtype.bits == dtype_.bits &&
         tensor.dtype.lanes == dtype_.lanes &&
         std::equal(dims_.begin(), dims_.end(), tensor.shape,
                    tensor.shape + tensor.ndim) &&
         is_contiguous(tensor);
}

std::string Binding::shown() const {
  return shown_tensor(dtype_, dims_.data(), dims_.size());
}

}  // namespace modelrun::onnxruntime
