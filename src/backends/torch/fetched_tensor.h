// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <dlpack/dlpack.h>

namespace modelrun::torch {

/// A DLPack tensor that owns `tensor`, which is contiguous. It keeps neither
/// the session nor the request that made it.
[[nodiscard]] DLManagedTensorVersioned* make_fetched_tensor(at::Tensor tensor,
                                                            DLDataType dtype);

}  // namespace modelrun::torch
