// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "modelrun/tensor.h"

namespace modelrun::detail {

/// What a safetensors file holds, in the order of its header.
struct Safetensors {
  std::vector<std::pair<std::string, Tensor>> tensors;
  /// The free text of `__metadata__`.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Reads a safetensors file, whose tensors are views of the mapped file. Every
/// rule of the format is checked: sizes, offsets without holes or overlaps,
/// one name once. Throws NotFound, InvalidArgument, or Unsupported, which
/// names the tensor whose dtype modelrun does not have.
[[nodiscard]] Safetensors load_safetensors(const std::filesystem::path& path);

/// Writes contiguous CPU tensors, byte for byte as the format's own library
/// does.
void save_safetensors(const Safetensors& content,
                      const std::filesystem::path& path);

}  // namespace modelrun::detail
