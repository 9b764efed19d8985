// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "python.h"

namespace modelrun::python {

/// The class of model outputs or caches that an export names, from the
/// installed transformers; null when there is no such class there, with one
/// warning for each name. Nothing else is imported, whatever the name.
[[nodiscard]] nb::object find_class(const std::string& dotted);

/// Whether a class is transformers' ModelOutput or derives from it.
[[nodiscard]] bool is_model_output(nb::handle type);

}  // namespace modelrun::python
