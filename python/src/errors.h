// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "modelrun/error.h"
#include "python.h"

namespace modelrun::python {

/// An object of a kind that a call cannot take: Python's TypeError.
class InvalidType : public Error {
 public:
  using Error::Error;
};

/// Makes the exception classes, each a subclass of `modelrun.Error` and of
/// Python's own kind, and translates what C++ throws to them.
void register_errors(nb::module_& module);

/// Sets the Python error for the exception that is being handled; for the slots
/// that Python calls without nanobind's own translation.
void set_python_error() noexcept;

}  // namespace modelrun::python
