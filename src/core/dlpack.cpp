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

template <typename Managed>
Tensor import_tensor(Managed* managed) {
  const DLTensor& dl = managed->dl_tensor;
  TensorLayout layout = import_layout(dl);
  void* const data = dl.data == nullptr
                         ? nullptr
                         : static_cast<std::byte*>(dl.data) + dl.byte_offset;
  // Checked without an owner first: until here the caller keeps `managed`.
  Tensor::view(data, layout);
  std::shared_ptr<const void> owner(managed, [](Managed* self) {
    if (self->deleter != nullptr) self->deleter(self);
  });
  return Tensor::view(data, std::move(layout), std::move(owner));
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
  for (int i = 0; i <= static_cast<int>(DType::int4); ++i) {
    const auto candidate = static_cast<DType>(i);
    const DLDataType known = to_dlpack(candidate);
    if (known.code == dtype.code && known.bits == dtype.bits &&
        known.lanes == dtype.lanes) {
      return candidate;
    }
  }
  return std::nullopt;
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
  return import_tensor(managed);
}

Tensor Tensor::from_dlpack(DLManagedTensor* managed) {
  return import_tensor(managed);
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
