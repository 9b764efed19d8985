// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "modelrun/backend.h"

namespace modelrun {

/// Finds a plugin: a path with a folder is taken as it is; a bare file name is
/// looked for in the folder that MODELRUN_PLUGIN_PATH names, then in the
/// plugin folders of this library. Throws NotFound with the places looked at.
[[nodiscard]] std::filesystem::path find_plugin(
    const std::filesystem::path& plugin, const std::string& backend);

/// A plugin's table, and what keeps it loaded.
struct OpenedPlugin {
  const modelrun_backend_table* table = nullptr;
  std::shared_ptr<void> library;
};

/// Opens a plugin and asks it for its table; throws BackendError when it is not
/// one. It stays in the process: runtimes do not survive being unloaded.
[[nodiscard]] OpenedPlugin open_plugin(const std::filesystem::path& file);

}  // namespace modelrun
