// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/torch/argument.h"
#include "backends/torch/graph.h"

namespace modelrun::torch {

/// Resolves `torch.ops.<namespace>.<name>.<overload>` and fits the serialized
/// inputs to its schema. What needs no kernel becomes a scalar node, one
/// without a function when it does nothing. Throws Unsupported for an operator
/// that this process does not have.
[[nodiscard]] Node read_operation(const std::string& target,
                                  const Json::array_t& inputs,
                                  const Slots& slots, c10::Device device);

}  // namespace modelrun::torch
