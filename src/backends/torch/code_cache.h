// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "backends/torch/archive.h"

namespace modelrun::torch {

/// Where compiled code is in an archive.
constexpr const char* kCodeFolder = "data/aotinductor/model";

/// Unpacks the compiled code of an archive to
/// `$XDG_CACHE_HOME/modelrun/aotinductor/<hash>` (by default below
/// `~/.cache`), unless it is there already, and returns that folder. It appears
/// whole or not at all, also when several processes unpack at once. Throws
/// InvalidArgument for records that would leave the folder or that are larger
/// than the archive, Unsupported for a folder that others may write to.
[[nodiscard]] std::filesystem::path unpack_code(const Archive& archive);

}  // namespace modelrun::torch
