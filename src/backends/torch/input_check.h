// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "backends/torch/program.h"

namespace modelrun::torch {

/// Checks the sizes of the bound inputs, one a program's input: the fixed ones,
/// the recorded maxima and the guards. Throws InvalidArgument, naming the
/// input, what was expected and what came.
void check_inputs(const Program& program, std::span<const at::Tensor> inputs);

}  // namespace modelrun::torch
