// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "artifact/onnx_program.h"

namespace modelrun::detail {

/// Refuses a program that is no plain function of its model's kwargs: a merged
/// decoder of optimum, whose extra input chooses between two graphs. Throws
/// Unsupported, which says what to load instead.
void check_onnx_layout(const OnnxProgram& program);

}  // namespace modelrun::detail
