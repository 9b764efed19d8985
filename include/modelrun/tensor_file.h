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
/// The tensors of a `.safetensors` or `.npy` file are views of the mapped file;
/// what is written to them stays in this process, and the file must not be cut
/// while they are held.
///
/// JSON is one object: a nested list of numbers is a tensor (int64; float32
/// when a number has a point or an exponent; bool), `{"dtype": ..., "shape":
/// ..., "data": [...]}` with a flat list a tensor of any dtype, everything else
/// a scalar or a nest; a list without any number is a list.
///
/// Throws NotFound; InvalidArgument, which names the file and the field; or
/// Unsupported for a dtype that modelrun does not have.
[[nodiscard]] NamedValues load_tensors(const std::filesystem::path& path);

/// Writes named values in the format that the file's extension names.
///
/// A nested value is stored under its leaf paths
/// (`past_key_values.layers.0.keys`). Scalars are kept: in JSON as they are; in
/// a safetensors file under the key `modelrun.scalars` of its metadata, as the
/// JSON text of one object (leaf path to scalar); in an `.npz` as an array of
/// that name which holds the same text's bytes. A `.npy` holds one tensor and
/// no scalar. The file appears whole or not at all.
///
/// Throws InvalidArgument for what the format cannot hold, Unsupported for a
/// dtype that it lacks (numpy has no bfloat16), NotFound when the folder is not
/// there, Error when writing fails.
void save_tensors(const NamedValues& values, const std::filesystem::path& path);

}  // namespace modelrun
