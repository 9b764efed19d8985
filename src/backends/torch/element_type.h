// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <dlpack/dlpack.h>

#include <cstdint>
#include <optional>
#include <string>

namespace modelrun::torch {

/// The type that an archive writes as a number; its numbers are its own.
/// Throws InvalidArgument for one that is none.
[[nodiscard]] c10::ScalarType recorded_type(std::int64_t number);

/// Empty for a type that the other side does not have.
[[nodiscard]] std::optional<c10::ScalarType> from_dlpack(
    DLDataType type) noexcept;
[[nodiscard]] std::optional<DLDataType> to_dlpack(
    c10::ScalarType type) noexcept;

/// As torch prints it, without `torch.`: `float32`.
[[nodiscard]] std::string type_name(c10::ScalarType type);

}  // namespace modelrun::torch
