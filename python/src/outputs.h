// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "array_output.h"
#include "modelrun/value.h"
#include "python.h"

namespace modelrun::python {

/// `modelrun.Outputs`: what a call returns to a caller who does not work in
/// torch, or when the source model's own class is not installed.
void register_outputs(nb::module_& module);

/// The value of a `modelrun.Outputs`; null for other objects.
[[nodiscard]] const Value* read_outputs(PyObject* object) noexcept;

/// Outputs by their names, where nothing records what the source model returns.
[[nodiscard]] nb::object to_mapping(const Value& value, Arrays arrays);

/// A value in Python's own containers: objects are `Outputs`, whose children
/// are made when they are read.
[[nodiscard]] nb::object to_python(const Value& value, Arrays arrays);

}  // namespace modelrun::python
