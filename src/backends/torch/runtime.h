// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace modelrun::torch {

/// The release that this plugin is compiled for, `2.15`.
[[nodiscard]] std::string built_for();

/// Throws Unsupported unless the torch in this process is of that release: its
/// C++ interface is another in each.
void check_runtime();

}  // namespace modelrun::torch
