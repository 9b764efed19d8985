// SPDX-License-Identifier: Apache-2.0
#include "backend/runtime_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "backend/library_file.h"
#include "modelrun/error.h"

namespace modelrun {

namespace fs = std::filesystem;

namespace {

int add_library(dl_phdr_info* info, std::size_t, void* context) {
  auto& libraries = *static_cast<std::vector<fs::path>*>(context);
  // The program itself has no name here.
  if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
    libraries.emplace_back(info->dlpi_name);
  }
  return 0;
}

/// What follows `stem.` in the file name: `"1.32.0"`.
std::string version_in_name(const fs::path& library) {
  const std::string name = library.filename().string();
  const auto at = name.rfind(".so.");
  return at == name.npos ? std::string() : name.substr(at + 4);
}

/// The folder of Python packages that `library` is in.
fs::path packages_of(const fs::path& library, const fs::path& package_folder) {
  fs::path folder = library.parent_path();
  fs::path below = package_folder;
  while (!below.empty()) {
    if (folder.filename() != below.filename()) return {};
    folder = folder.parent_path();
    below = below.parent_path();
  }
  return folder;
}

/// The version in the name of the package's folder of metadata:
/// `x-1.32.0.dist-info`; a build such as `+cpu` is left out.
std::string package_version(const fs::path& packages,
                            const std::string& package) {
  const std::string start = package + '-';
  const std::string end = ".dist-info";
  std::error_code error;
  fs::directory_iterator entries(packages, error);
  std::string version;
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.size() <= start.size() + end.size() || !name.starts_with(start) ||
        !name.ends_with(end)) {
      continue;
    }
    std::string found =
        name.substr(start.size(), name.size() - start.size() - end.size());
    found.resize(std::min(found.size(), found.find('+')));
    version = std::max(version, found, [](const auto& a, const auto& b) {
      return version_numbers(a) < version_numbers(b);
    });
  }
  return version;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

}  // namespace

std::vector<fs::path> loaded_libraries() {
  std::vector<fs::path> libraries;
  dl_iterate_phdr(add_library, &libraries);
  return libraries;
}

fs::path find_loaded(const std::vector<fs::path>& libraries,
                     std::string_view stem) {
  const auto found = std::find_if(
      libraries.begin(), libraries.end(), [&](const fs::path& each) {
        const std::string name = each.filename().string();
        return name.starts_with(stem) &&
               (name.size() == stem.size() || name[stem.size()] == '.');
      });
  return found == libraries.end() ? fs::path() : *found;
}

std::string runtime_version(const fs::path& library,
                            const fs::path& package_folder) {
  std::error_code error;
  const fs::path file = fs::canonical(library, error);
  std::string version = version_in_name(error ? library : file);
  // One number alone is that of an interface, not of a release.
  if (version_numbers(version).size() > 1) return version;
  // A library that another one opened is named as that one has it: `a/../b`.
  const fs::path packages = packages_of(
      fs::absolute(library, error).lexically_normal(), package_folder);
  if (packages.empty()) return {};
  return package_version(packages, package_folder.begin()->string());
}

void open_runtime_library(const fs::path& library, std::string_view stem) {
  const fs::path loaded = find_loaded(loaded_libraries(), stem);
  if (!loaded.empty() && !is_same_file(loaded, library)) {
    throw BackendError("runtime " + library.string() +
                       " cannot be opened: this process has " +
                       loaded.string() +
                       " open already, and holds one only; name that one, or "
                       "none, or use a process of its own");
  }
  // Never closed: runtimes do not survive being unloaded.
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* reason = dlerror();
    throw BackendError("runtime " + library.string() + " cannot be opened: " +
                       (reason == nullptr ? "unknown error" : reason));
  }
}

}  // namespace modelrun
