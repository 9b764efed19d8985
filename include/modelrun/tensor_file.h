// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modelrun/dtype.h"
#include "modelrun/tensor.h"
#include "modelrun/value.h"

namespace modelrun {

/// Named values as a file holds them, in the file's order.
using NamedValues = std::vector<std::pair<std::string, Value>>;

/// Reads named values from `.safetensors`, `.npz`, `.npy` (one tensor, named
/// by the file's stem) or `.json`.
///
/// JSON is one object: a nested list of numbers is a tensor (int64, float32 or
/// bool), `{"dtype": ..., "shape": ..., "data": ...}` a tensor of any dtype,
/// everything else a scalar or a nest. Throws NotFound or InvalidArgument,
/// which names the file and the field.
[[nodiscard]] NamedValues load_tensors(const std::filesystem::path& path);

/// Writes named values in the format that the file's extension names. A nested
/// value is stored under its leaf paths (`past_key_values.layers.0.keys`);
/// scalars are kept in JSON, and in a safetensors file's metadata, and refused
/// elsewhere. The file appears whole or not at all.
void save_tensors(const NamedValues& values,
                  const std::filesystem::path& path);

}  // namespace modelrun
