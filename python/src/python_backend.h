// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python.h"

namespace modelrun::python {

/// `register_backend(name, runner_class, formats)`: a backend that is written
/// in Python, behind the same table of functions as a native one.
void register_python_backend(nb::module_& module);

/// Raises what Python code raised within the native call that failed on this
/// thread: Ctrl-C and the like as they are, other exceptions as the cause of
/// `error`. Returns when no Python code failed.
void raise_pending_error(const char* error);

}  // namespace modelrun::python
