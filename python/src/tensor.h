// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "modelrun/tensor.h"
#include "python.h"

namespace modelrun::python {

/// `modelrun.Tensor`: an array that other packages read through DLPack or the
/// buffer protocol, without a copy.
void register_tensor(nb::module_& module);

/// The struct module's code of a dtype; null where Python has none.
[[nodiscard]] const char* buffer_format(DType dtype) noexcept;

}  // namespace modelrun::python
