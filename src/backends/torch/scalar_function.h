// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "backends/torch/graph.h"

namespace modelrun::torch {

/// What the graph computes with sizes and other numbers, with Python's
/// arithmetic: `_operator.floordiv`, `torch.sym_max`, `math.trunc`, and
/// `torch.ops.aten.sym_size.int`. Null for a name that is none. The functions
/// throw InvalidArgument on a division by zero and past 64 bits.
[[nodiscard]] ScalarFunction find_scalar_function(
    std::string_view target) noexcept;

/// The first operand, as it is.
[[nodiscard]] c10::IValue first_operand(c10::ArrayRef<c10::IValue> operands);

/// Whether Python takes a number, or a tensor of one, for true.
[[nodiscard]] bool is_true(const c10::IValue& value);

}  // namespace modelrun::torch
