// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun::cli {

/// Runs a program, found on PATH, and waits for it. `on_line` gets each line
/// that it writes to stdout or stderr. Returns its exit code, 128 and more for
/// a signal. Throws BackendError when it cannot be started.
int run_program(const std::vector<std::string>& arguments,
                const std::function<void(std::string_view)>& on_line);

}  // namespace modelrun::cli
