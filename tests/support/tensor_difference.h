// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "modelrun/tensor.h"

namespace modelrun::testing {

/// How `actual` differs from `expected`: in dtype, in shape, in a number that
/// is further away than `tolerance` (floats), or at all (the others). NaNs and
/// infinities must be the same. Empty when it does not.
[[nodiscard]] std::string tensor_difference(const Tensor& actual,
                                            const Tensor& expected,
                                            double tolerance);

/// The elements of a tensor of floats or integers as doubles.
[[nodiscard]] std::vector<double> as_doubles(const Tensor& tensor);

}  // namespace modelrun::testing
