// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "modelrun/structure.h"
#include "modelrun/tensor_file.h"
#include "tensor_file/flat_values.h"

namespace modelrun::detail {

/// Reads a JSON file of named values, as `load_tensors` says.
[[nodiscard]] NamedValues load_json_tensors(const std::filesystem::path& path);

/// Writes named values so that they are read back as they are.
void save_json_tensors(const FlatValues& values,
                       const std::filesystem::path& path);

/// JSON text of a string, a scalar, a contiguous CPU tensor. Not-a-number and
/// infinities are written as Python writes them. Throws InvalidArgument for
/// text that is not UTF-8, Unsupported for packed dtypes.
[[nodiscard]] std::string json_quoted(std::string_view text);
[[nodiscard]] std::string json_text(const Scalar& scalar);
[[nodiscard]] std::string json_text(const Tensor& tensor);

}  // namespace modelrun::detail
