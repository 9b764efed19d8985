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
    const fs::path installed = folder.parent_path() / "lib" / "modelrun";
    if (installed != folders.back()) folders.push_back(installed);
  }
  return folders;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all.append(all.empty() ? "" : ", ").append(text);
  }
  return all;
}

/// The release in `x-<release>.so` for the plugin `x.so`; empty for another
/// file.
std::string release_of(const fs::path& file, const fs::path& plugin) {
  const std::string name = file.filename().string();
  const std::string start = plugin.stem().string() + '-';
  const std::string end = plugin.extension().string();
  if (name.size() <= start.size() + end.size() || !name.starts_with(start) ||
      !name.ends_with(end)) {
    return {};
  }
  return name.substr(start.size(), name.size() - start.size() - end.size());
}

bool is_release_of(const std::string& release, const std::string& version) {
  return version.starts_with(release) &&
         (version.size() == release.size() || version[release.size()] == '.');
}

[[noreturn]] void refuse_release(const std::string& backend,
                                 const RuntimeSearch& runtime,
                                 const std::vector<std::string>& releases) {
  std::string text =
      "no plugin of backend '" + backend + "' fits its runtime at " +
      runtime.library.string() + ": the runtime's release is " +
      (runtime.version.empty() ? "not told by its file name or package"
                               : runtime.version) +
      ", the plugins are built for " + joined(releases);
  if (!runtime.fix.empty()) {
    text += "; add the runtime that fits with '" + runtime.fix + "'";
  }
  throw NotFound(text);
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

fs::path find_release_plugin(const fs::path& plugin, const std::string& backend,
                             const RuntimeSearch& runtime) {
  if (plugin.has_parent_path()) return find_plugin(plugin, backend);
  std::vector<std::string> releases;
  std::vector<std::string> folders;
  for (const fs::path& folder : plugin_folders()) {
    folders.push_back(folder.string());
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator();
         entries.increment(error)) {
      std::string release = release_of(entries->path(), plugin);
      if (release.empty()) continue;
      if (is_release_of(release, runtime.version)) {
        return fs::absolute(entries->path(), error);
      }
      releases.push_back(std::move(release));
    }
  }
  if (!releases.empty()) refuse_release(backend, runtime, releases);
  throw NotFound("plugin of backend '" + backend + "' not found: no " +
                 plugin.stem().string() + "-<release>" +
                 plugin.extension().string() + " in " + joined(folders) +
                 "; build modelrun, or its Python package modelrun-" + backend +
                 ", where " + backend + " " + runtime.version +
                 " is installed, or name the folder with the environment "
                 "variable MODELRUN_PLUGIN_PATH");
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
