// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin_file.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include "modelrun/error.h"

namespace modelrun {

namespace fs = std::filesystem;

namespace {

/// The file that this code is in: the shared library, or a program that it is
/// linked into.
fs::path own_file() {
  static const char anchor = 0;
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(&anchor, &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return {};
  }
  // The program itself has no name here, and argv[0] elsewhere.
  const bool is_program = map->l_name == nullptr || map->l_name[0] == '\0';
  std::error_code error;
  const fs::path file =
      fs::canonical(is_program ? "/proc/self/exe" : map->l_name, error);
  return error ? fs::path() : file;
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  const char* named = std::getenv("MODELRUN_PLUGIN_PATH");
  if (named != nullptr && named[0] != '\0') folders.emplace_back(named);
  const fs::path file = own_file();
  if (!file.empty()) {
    const fs::path folder = file.parent_path();
    folders.push_back(folder / "modelrun");
    folders.push_back(folder.parent_path() / "lib" / "modelrun");
  }
  return folders;
}

std::string dynamic_linker_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

}  // namespace

fs::path find_plugin(const fs::path& plugin, const std::string& backend) {
  std::error_code error;
  std::string tried;
  if (plugin.has_parent_path()) {
    const fs::path file = fs::absolute(plugin, error);
    if (!error && fs::is_regular_file(file, error)) return file;
    throw NotFound("plugin of backend '" + backend +
                   "' not found: " + plugin.string() + " is not a file");
  }
  for (const fs::path& folder : plugin_folders()) {
    const fs::path file = fs::absolute(folder / plugin, error);
    if (!error && fs::is_regular_file(file, error)) return file;
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  throw NotFound("plugin of backend '" + backend + "' not found: no " +
                 plugin.string() + " in " + tried +
                 "; name its folder with the environment variable "
                 "MODELRUN_PLUGIN_PATH");
}

OpenedPlugin open_plugin(const fs::path& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw BackendError("plugin " + file.string() +
                       " cannot be opened: " + dynamic_linker_error());
  }
  // Not closed again, not even after an error: code of it may have started
  // threads or registered exit handlers already.
  void* entry = dlsym(library, MODELRUN_BACKEND_ENTRY);
  if (entry == nullptr) {
    throw BackendError(
        "plugin " + file.string() +
        " is not a modelrun plugin: expected the symbol " MODELRUN_BACKEND_ENTRY
        ", got " +
        dynamic_linker_error());
  }
  const auto* table = reinterpret_cast<modelrun_backend_entry>(entry)();
  return {.table = table,
          .library = std::shared_ptr<void>(library, [](void*) {})};
}

}  // namespace modelrun
