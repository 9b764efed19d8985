// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/torch/archive.h"

namespace modelrun::torch {

/// Throws Unsupported when the compiled code of an archive is for another
/// platform, or uses instructions that this processor does not have: by what
/// AOTInductor records of it, and by the list that `modelrun compile` adds.
void check_instruction_set(const Archive& archive);

}  // namespace modelrun::torch
