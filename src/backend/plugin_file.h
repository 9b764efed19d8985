// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "modelrun/backend.h"
#include "modelrun/backends.h"

namespace modelrun {

/// Finds a plugin: a path with a folder is taken as it is; a bare file name is
/// looked for in the folder that MODELRUN_PLUGIN_PATH names, then in the
/// plugin folders of this library. Throws NotFound with the places looked at.
[[nodiscard]] std::filesystem::path find_plugin(
    const std::filesystem::path& plugin, const std::string& backend);

/// As `find_plugin`, for a plugin that is built for each release of its
/// runtime: `x.so` stands for the files `x-<release>.so`. Takes the one whose
/// release the runtime's version is or starts with ("2.15" for "2.15.1");
/// throws NotFound with the releases that there are.
[[nodiscard]] std::filesystem::path find_release_plugin(
    const std::filesystem::path& plugin, const std::string& backend,
    const RuntimeSearch& runtime);

/// A plugin's table, and what keeps it loaded.
struct OpenedPlugin {
  const modelrun_backend_table* table = nullptr;
  std::shared_ptr<void> library;
};

/// Opens a plugin and asks it for its table; throws BackendError when it is not
/// one. It stays in the process: runtimes do not survive being unloaded.
[[nodiscard]] OpenedPlugin open_plugin(const std::filesystem::path& file);

}  // namespace modelrun
