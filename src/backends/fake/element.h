// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "dlpack/dlpack.h"

namespace modelrun::fake {

/// The dtype of a name such as `"float32"`.
[[nodiscard]] std::optional<DLDataType> dtype_from_name(
    std::string_view name) noexcept;

[[nodiscard]] bool same(DLDataType a, DLDataType b) noexcept;

/// Whether `store_number` and `add` know the dtype: bool, the integers of 8 to
/// 64 bits, float32 and float64.
[[nodiscard]] bool has_arithmetic(DLDataType dtype) noexcept;

/// Writes one element; `dtype` has arithmetic.
void store_number(DLDataType dtype, double value, void* to) noexcept;

/// `to[i] = a[i] + b[i]`; `dtype` has arithmetic. The ranges may be the same.
void add(DLDataType dtype, const void* a, const void* b, void* to,
         std::size_t count) noexcept;

}  // namespace modelrun::fake
