// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python.h"

namespace modelrun::python {

/// `modelrun._core.Model`, which `modelrun.ExportedModel` extends, and
/// `modelrun.BoundCall`.
void register_model(nb::module_& module);

}  // namespace modelrun::python
