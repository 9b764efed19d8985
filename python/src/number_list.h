// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "modelrun/tensor.h"
#include "python.h"

namespace modelrun::python {

/// A list (or tuple) of numbers, or of such lists, as a tensor: bools as bool,
/// integers as int64, floats, with or without integers, as float32. Empty for
/// what is no list or does not begin with a number. Throws InvalidType, which
/// names the kwarg, for lists of different lengths and for mixed kinds.
[[nodiscard]] std::optional<Tensor> read_number_list(std::string_view name,
                                                     PyObject* object);

}  // namespace modelrun::python
