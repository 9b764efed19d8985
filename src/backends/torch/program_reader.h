// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>

#include "backends/torch/archive.h"
#include "backends/torch/program.h"

namespace modelrun::torch {

/// Reads the one program of an archive, for `device`. Its weights lie in the
/// archive's mapping, which must outlive it. `in_constants` are checked
/// against the values that the program was made for. Throws InvalidArgument
/// and Unsupported, naming file, record and field.
[[nodiscard]] Program read_program(
    const Archive& archive, c10::Device device,
    const std::map<std::size_t, Json>& in_constants);

}  // namespace modelrun::torch
