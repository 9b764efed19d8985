// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/fetched_tensor.h"

#include <cstdint>
#include <string>
#include <utility>

#include "backends/torch/element_type.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

struct FetchedTensor {
  DLManagedTensorVersioned managed;
  at::Tensor tensor;
};

void delete_managed(DLManagedTensorVersioned* managed) {
  delete static_cast<FetchedTensor*>(managed->manager_ctx);
}

}  // namespace

DLManagedTensorVersioned* make_fetched_tensor(at::Tensor tensor,
                                              DLDataType dtype) {
  const auto real = to_dlpack(tensor.scalar_type());
  if (!real || real->code != dtype.code || real->bits != dtype.bits) {
    throw BackendError("an output is of " + type_name(tensor.scalar_type()) +
                       ", the export says otherwise: export the model again");
  }
  auto* made = new FetchedTensor{{}, std::move(tensor)};
  const at::Tensor& kept = made->tensor;
  // DLPack's struct takes no pointers to const, and changes nothing.
  auto* shape = const_cast<std::int64_t*>(kept.sizes().data());
  auto* strides = const_cast<std::int64_t*>(kept.strides().data());
  made->managed = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
                   .manager_ctx = made,
                   .deleter = delete_managed,
                   .flags = 0,
                   .dl_tensor = {.data = kept.mutable_data_ptr(),
                                 .device = {kDLCPU, 0},
                                 .ndim = static_cast<std::int32_t>(kept.dim()),
                                 .dtype = dtype,
                                 .shape = shape,
                                 .strides = strides,
                                 .byte_offset = 0}};
  return &made->managed;
}

}  // namespace modelrun::torch
