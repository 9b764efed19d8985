// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "modelrun/tensor.h"
#include "python.h"

struct DLPackExchangeAPI;

namespace modelrun::python {

/// Whose arrays a caller works in. The larger one wins when a call has several.
enum class Framework { none, dlpack, numpy, torch };

/// A tensor on the memory of an array, which it keeps alive; empty when the
/// object is none. Arrays are torch's, numpy's, and anything with `__dlpack__`
/// or the buffer protocol; bytes are not. `seen` becomes the object's framework
/// when that is larger. Throws InvalidType and InvalidArgument, which say what
/// is wrong with the array.
[[nodiscard]] std::optional<Tensor> read_tensor(PyObject* object,
                                                Framework* seen = nullptr);

/// The functions by which a tensor type passes its memory on; null when the
/// type has none.
[[nodiscard]] const DLPackExchangeAPI* exchange_api(PyTypeObject* type);

}  // namespace modelrun::python
