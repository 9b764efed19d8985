// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's namespace has the name that this plugin's has within modelrun:
// the alias tells them apart.
#include <executorch/runtime/core/error.h>

#include "backends/common/failure.h"

namespace modelrun::executorch {

namespace et = ::executorch::runtime;

using plugin::Failure;

}  // namespace modelrun::executorch
