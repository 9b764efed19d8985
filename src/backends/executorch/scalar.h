// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <executorch/runtime/core/evalue.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "backends/executorch/api.h"
#include "backends/executorch/options.h"

namespace modelrun::executorch {

/// Whether a value is one bool, integer, float or string, or none at all.
[[nodiscard]] bool is_scalar(const et::EValue& value) noexcept;

/// The value of one that is; a string that is no UTF-8 is repaired.
[[nodiscard]] nlohmann::json scalar_value(const et::EValue& value);

/// bool, int64 or float64.
[[nodiscard]] DLDataType scalar_dtype(const et::EValue& value) noexcept;

/// Writes a bool, integer or float as an element of its `scalar_dtype`; returns
/// its bytes.
std::size_t write_scalar(const et::EValue& value, void* element) noexcept;

/// Throws Failure when the input at `position` is given another value than the
/// program was exported for.
void check_scalar(std::size_t position, const et::EValue& value,
                  const nlohmann::json& given);

}  // namespace modelrun::executorch
