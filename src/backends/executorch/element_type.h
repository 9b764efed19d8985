// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <optional>

namespace modelrun::executorch {

using ScalarType = ::executorch::aten::ScalarType;

/// The DLPack type of one of ExecuTorch's; nothing for complex, quantized and
/// bit types.
[[nodiscard]] std::optional<DLDataType> to_dlpack(ScalarType type) noexcept;

/// ExecuTorch's type of one that `to_dlpack` returned.
[[nodiscard]] ScalarType scalar_type_of(DLDataType dtype) noexcept;

}  // namespace modelrun::executorch
