// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "artifact/artifact.h"
#include "runner/model_runner.h"

namespace modelrun::detail {

/// Runs a component once, on zeros of the shapes that it was traced with; a
/// dynamic axis that is not recorded is 1.
void warm_up(const ModelRunner& runner, const Component& component);

}  // namespace modelrun::detail
