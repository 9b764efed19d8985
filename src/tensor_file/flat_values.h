// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modelrun/tensor_file.h"

namespace modelrun::detail {

/// Where a file of arrays alone keeps the scalars, as the JSON text of one
/// object: a key of a safetensors file's metadata, an array of bytes in an
/// `.npz`.
inline constexpr std::string_view kScalarsName = "modelrun.scalars";

/// Named values with every nest taken apart: leaf paths, in order.
struct FlatValues {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<std::pair<std::string, Scalar>> scalars;
};

/// Throws InvalidArgument when two leaves have one name, or when a tensor is
/// undefined or not on the CPU. The tensors are contiguous.
[[nodiscard]] FlatValues flatten(const NamedValues& values);

/// The scalars as JSON text of one object; and back.
[[nodiscard]] std::string scalars_to_json(
    const std::vector<std::pair<std::string, Scalar>>& scalars);
[[nodiscard]] NamedValues scalars_from_json(std::string_view text,
                                            const std::string& what);

}  // namespace modelrun::detail
