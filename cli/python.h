// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace modelrun::cli {

/// The Python that a command starts: the one asked for, that of the active
/// environment, or python3.
std::string python_of(const std::string& asked);

}  // namespace modelrun::cli
