// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <openvino/runtime/tensor.hpp>

namespace modelrun::openvino {

/// A copy of what a run left in the runtime's memory, which the next run
/// writes again; `port` is for the message.
[[nodiscard]] DLManagedTensorVersioned* copied_result(const ov::Tensor& tensor,
                                                      const char* port);

}  // namespace modelrun::openvino
