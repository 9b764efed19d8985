// SPDX-License-Identifier: Apache-2.0
#include "core/dlpack.h"

#include <limits>
#include <memory>
#include <span>
#include <string>

#include "modelrun/error.h"
#include "modelrun/tensor.h"

namespace modelrun {
namespace {

// What an exported tensor keeps alive: the tensor itself, and strides, which
// consumers of DLPack 1.2 may rely on.
template <typename Managed>
struct Export {
  Managed managed{};
  Tensor tensor;
  Shape strides;
};

Shape row_major_strides(const Shape& shape) {
  Shape strides = Shape::of_rank(shape.rank());
  std::int64_t step = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = step;
    // Wraps around only for empty tensors, whose strides are never used.
    step = static_cast<std::int64_t>(static_cast<std::uint64_t>(step) *
                                     static_cast<std::uint64_t>(shape[axis]));
  }
  return strides;
}

template <typename Managed>
Managed* export_tensor(const Tensor& tensor) {
  if (!tensor.defined()) {
    throw InvalidArgument("cannot pass on an undefined tensor through DLPack");
  }
  auto out = std::make_unique<Export<Managed>>();
  out->tensor = tensor;
  out->strides = tensor.is_contiguous() ? row_major_strides(tensor.shape())
                                        : tensor.strides();
  DLTensor& dl = out->managed.dl_tensor;
  dl.data = tensor.element_count() == 0 ? nullptr : tensor.raw_data();
  dl.device = to_dlpack(tensor.device());
  dl.ndim = static_cast<std::int32_t>(tensor.rank());
  dl.dtype = to_dlpack(tensor.dtype());
  dl.shape = out->tensor.rank() == 0
                 ? nullptr
                 : const_cast<std::int64_t*>(out->tensor.shape().data());
  dl.strides = out->tensor.rank() == 0 ? nullptr : out->strides.data();
  out->managed.manager_ctx = out.get();
  out->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->manager_ctx);
  };
  return &out.release()->managed;
}

TensorLayout import_layout(const DLTensor& dl) {
  const auto dtype = dtype_from_dlpack(dl.dtype);
  if (!dtype) {
    throw Unsupported(
        "a DLPack tensor of type code " + std::to_string(dl.dtype.code) + ", " +
        std::to_string(dl.dtype.bits) + " bits, " +
        std::to_string(dl.dtype.lanes) + " lanes has no modelrun dtype");
  }
  const auto device = device_from_dlpack(dl.device);
  if (!device) {
    throw Unsupported("a DLPack tensor on device type " +
                      std::to_string(static_cast<int>(dl.device.device_type)) +
                      " is not on a device that modelrun knows");
  }
  if (dl.ndim < 0 || (dl.ndim > 0 && dl.shape == nullptr)) {
    throw InvalidArgument("a DLPack tensor of rank " + std::to_string(dl.ndim) +
                          " has no valid shape");
  }
  const auto rank = static_cast<std::size_t>(dl.ndim);
  TensorLayout layout{.dtype = *dtype,
                      .shape = Shape(std::span(dl.shape, rank)),
                      .strides = {},
                      .device = *device};
  if (dl.strides != nullptr) {
    layout.strides = Shape(std::span(dl.strides, rank));
  }
  return layout;
}

// A view without an owner: what it throws leaves the tensor to the caller.
Tensor borrow(const DLTensor& dl) {
  void* const data = dl.data == nullptr
                         ? nullptr
                         : static_cast<std::byte*>(dl.data) + dl.byte_offset;
  return Tensor::view(data, import_layout(dl));
}

template <typename Managed>
std::shared_ptr<const void> owner_of(Managed* managed) {
  return {managed, [](Managed* self) {
            if (self->deleter != nullptr) self->deleter(self);
          }};
}

}  // namespace

DLDataType to_dlpack(DType dtype) noexcept {
  std::uint8_t code = kDLInt;
  if (dtype == DType::bool_) {
    code = kDLBool;
  } else if (dtype == DType::bfloat16) {
    code = kDLBfloat;
  } else if (is_floating_point(dtype)) {
    code = kDLFloat;
  } else if (dtype <= DType::uint64 || dtype == DType::uint4) {
    code = kDLUInt;
  }
  return {code, static_cast<std::uint8_t>(bits(dtype)), 1};
}

std::optional<DType> dtype_from_dlpack(DLDataType dtype) noexcept {
  if (dtype.lanes != 1) return std::nullopt;
  switch (dtype.code << 8 | dtype.bits) {
    case kDLBool << 8 | 8:
      return DType::bool_;
    case kDLUInt << 8 | 8:
      return DType::uint8;
    case kDLUInt << 8 | 16:
      return DType::uint16;
    case kDLUInt << 8 | 32:
      return DType::uint32;
    case kDLUInt << 8 | 64:
      return DType::uint64;
    case kDLInt << 8 | 8:
      return DType::int8;
    case kDLInt << 8 | 16:
      return DType::int16;
    case kDLInt << 8 | 32:
      return DType::int32;
    case kDLInt << 8 | 64:
      return DType::int64;
    case kDLFloat << 8 | 16:
      return DType::float16;
    case kDLBfloat << 8 | 16:
      return DType::bfloat16;
    case kDLFloat << 8 | 32:
      return DType::float32;
    case kDLFloat << 8 | 64:
      return DType::float64;
    case kDLUInt << 8 | 4:
      return DType::uint4;
    case kDLInt << 8 | 4:
      return DType::int4;
    default:
      return std::nullopt;
  }
}

DLDevice to_dlpack(Device device) noexcept {
  switch (device.type) {
    case DeviceType::cuda:
      return {kDLCUDA, device.index};
    case DeviceType::xpu:
      return {kDLOneAPI, device.index};
    case DeviceType::npu:
      return {kDLExtDev, device.index};
    case DeviceType::cpu:
    case DeviceType::automatic:
      break;
  }
  return {kDLCPU, 0};
}

std::optional<Device> device_from_dlpack(DLDevice device) noexcept {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      return Device{};
    case kDLCUDA:
      return Device{DeviceType::cuda, device.device_id};
    case kDLOneAPI:
      return Device{DeviceType::xpu, device.device_id};
    default:
      return std::nullopt;
  }
}

Tensor Tensor::from_dlpack(DLManagedTensorVersioned* managed) {
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    throw Unsupported("a DLPack tensor of version " +
                      std::to_string(managed->version.major) +
                      " cannot be read: expected version " +
                      std::to_string(DLPACK_MAJOR_VERSION));
  }
  if ((managed->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    throw Unsupported(
        "a DLPack tensor of padded 4-bit elements: expected packed ones");
  }
  Tensor tensor = borrow(managed->dl_tensor);
  tensor.owner_ = owner_of(managed);
  return tensor;
}

Tensor Tensor::from_dlpack(DLManagedTensor* managed) {
  Tensor tensor = borrow(managed->dl_tensor);
  tensor.owner_ = owner_of(managed);
  return tensor;
}

DLManagedTensorVersioned* Tensor::to_dlpack() const {
  auto* managed = export_tensor<DLManagedTensorVersioned>(*this);
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags = 0;
  return managed;
}

DLManagedTensor* Tensor::to_dlpack_unversioned() const {
  return export_tensor<DLManagedTensor>(*this);
}

}  // namespace modelrun
