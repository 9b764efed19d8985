// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "modelrun/dtype.h"
#include "modelrun/structure.h"
#include "modelrun/tensor.h"

namespace modelrun {

/// A number as the tensor of rank 0 that a program takes it as; undefined when
/// `scalar` is none, or the program takes no such number. Throws
/// InvalidArgument, which names `input`, when an integer does not fit.
[[nodiscard]] Tensor scalar_tensor(const Scalar& scalar, DType dtype,
                                   const std::string& input);

}  // namespace modelrun
