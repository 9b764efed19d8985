// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/type/element_type.hpp>

#include "backends/common/tensor_view.h"

namespace modelrun::openvino {

/// Whether the CPU plugin computes integers of this type as int32. What does
/// not fit is cut to its low bits without a word (2026.4.1).
[[nodiscard]] bool is_narrowed(const ov::element::Type& type) noexcept;

/// Throws Failure when `view`, of such a type, holds what int32 does not.
void check_narrow(const plugin::TensorView& view, const char* port);

}  // namespace modelrun::openvino
