// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "artifact/artifact.h"
#include "backend/backend.h"
#include "modelrun/inspect.h"

namespace modelrun::detail {

/// What the files of a component tell without its runtime.
[[nodiscard]] ComponentDescription describe_component(
    const Component& component);

/// Ports as the runtime of a program tells them.
[[nodiscard]] std::vector<TensorDescription> describe_ports(
    const std::vector<Port>& ports);

}  // namespace modelrun::detail
