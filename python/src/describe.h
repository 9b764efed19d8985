// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "modelrun/inspect.h"
#include "python.h"

namespace modelrun::python {

/// A component as a dict, for `modelrun.Program`.
[[nodiscard]] nb::dict describe_program(const ComponentDescription& component);

/// `export_format`, `find_runtime` and the registry of backends.
void register_description(nb::module_& module);

}  // namespace modelrun::python
