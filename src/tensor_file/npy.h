// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "modelrun/tensor.h"
#include "tensor_file/flat_values.h"
#include "tensor_file/npy_header.h"

namespace modelrun::detail {

/// Reads one `.npy` array; a row-major one is a view of the mapped file. Throws
/// NotFound, InvalidArgument or Unsupported.
[[nodiscard]] Tensor load_npy(const std::filesystem::path& path);

/// Writes one contiguous CPU tensor.
void save_npy(const Tensor& tensor, const std::filesystem::path& path);

/// Reads the arrays of an `.npz`, stored or deflated, and the scalars that
/// `save_npz` put among them.
[[nodiscard]] NamedValues load_npz(const std::filesystem::path& path);

/// Writes an `.npz` as `numpy.savez` does: stored. Scalars become one array of
/// bytes, named `kScalarsName`.
void save_npz(const FlatValues& values, const std::filesystem::path& path);

/// The tensor of a header and its elements as they stand in the file: a
/// column-major one is turned around.
[[nodiscard]] Tensor row_major(const NpyHeader& header, Tensor elements);

}  // namespace modelrun::detail
