// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "modelrun/dtype.h"
#include "modelrun/tensor.h"

namespace modelrun {

/// A contiguous copy of a CPU tensor of integers as another integer dtype.
/// Throws InvalidArgument, which names `input`, when a value does not fit.
[[nodiscard]] Tensor convert_integers(const Tensor& tensor, DType dtype,
                                      const std::string& input);

}  // namespace modelrun
