// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "modelrun/tensor.h"
#include "modelrun/value.h"
#include "python.h"

namespace modelrun::python {

/// What the tensors of a call's outputs are in Python.
enum class Arrays { dlpack, numpy, torch };

/// A numpy array on the memory of a tensor. Throws NotFound when a package
/// that it needs is not installed, with the fix.
[[nodiscard]] nb::object to_numpy(const Tensor& tensor);
/// A torch tensor on the memory of a tensor; torch must be installed.
[[nodiscard]] nb::object to_torch(const Tensor& tensor);
[[nodiscard]] nb::object to_array(const Tensor& tensor, Arrays arrays);

/// Throws NotFound, with the fix, unless the package of these arrays is there.
void require_package(Arrays arrays);

[[nodiscard]] nb::object to_python(const Scalar& scalar);

/// Whether a package can be imported.
[[nodiscard]] bool is_installed(const char* package);

}  // namespace modelrun::python
