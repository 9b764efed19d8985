// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dlpack/dlpack.h"
#include "modelrun/device.h"
#include "modelrun/dtype.h"

namespace modelrun {

[[nodiscard]] DLDataType to_dlpack(DType dtype) noexcept;
/// Empty for a type that modelrun does not have, vectors included.
[[nodiscard]] std::optional<DType> dtype_from_dlpack(DLDataType dtype) noexcept;

[[nodiscard]] DLDevice to_dlpack(Device device) noexcept;
/// Pinned host memory is the CPU's. Empty for a device that modelrun does not
/// have.
[[nodiscard]] std::optional<Device> device_from_dlpack(
    DLDevice device) noexcept;

}  // namespace modelrun
