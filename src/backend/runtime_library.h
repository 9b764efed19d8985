// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun {

/// The shared libraries that this process has open.
[[nodiscard]] std::vector<std::filesystem::path> loaded_libraries();

/// The one of `libraries` that is `stem` (`"libx.so"`) or a version of it;
/// empty when none is.
[[nodiscard]] std::filesystem::path find_loaded(
    const std::vector<std::filesystem::path>& libraries, std::string_view stem);

/// The version of a runtime's library: that in its file name
/// (`"libx.so.1.32.0"`), or of the Python package that holds it in
/// `package_folder` (`"x/lib"`); empty when neither says one.
[[nodiscard]] std::string runtime_version(
    const std::filesystem::path& library,
    const std::filesystem::path& package_folder);

/// Opens a runtime, so that a plugin which links it gets this file, and none
/// that the dynamic linker would look for. Throws BackendError when it cannot
/// be opened, or when another file of the runtime, a version of `stem`, is open
/// in the process: a plugin would get that one.
void open_runtime_library(const std::filesystem::path& library,
                          std::string_view stem);

}  // namespace modelrun
