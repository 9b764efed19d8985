// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <memory>

#include "backends/onnxruntime/runtime.h"

namespace modelrun::onnxruntime {

/// A DLPack tensor that owns `value`, one allocation in all. It keeps the
/// runtime, but neither the session nor the request that made it.
[[nodiscard]] DLManagedTensorVersioned* make_fetched_tensor(
    std::shared_ptr<const Runtime> runtime, Handle<OrtValue> value);

}  // namespace modelrun::onnxruntime
