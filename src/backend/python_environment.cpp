// SPDX-License-Identifier: Apache-2.0
#include "backend/python_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "backend/library_file.h"
#include "backend/runtime_library.h"
#include "modelrun/backends.h"

namespace modelrun {

namespace fs = std::filesystem;

namespace {

#if defined(__aarch64__)
constexpr const char* kMultiarch = "aarch64-linux-gnu";
#else
constexpr const char* kMultiarch = "x86_64-linux-gnu";
#endif

constexpr std::array kVariables = {
    "CONDA_PREFIX", "LD_LIBRARY_PATH", "PATH", "PYENV_VERSION", "VIRTUAL_ENV",
};

/// What `set_python_packages` told. Thread-safe.
class OwnPackages {
 public:
  void set(std::vector<fs::path> folders) {
    const std::lock_guard lock(mutex_);
    folders_ = std::move(folders);
  }
  [[nodiscard]] std::vector<fs::path> folders() const {
    const std::lock_guard lock(mutex_);
    return folders_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<fs::path> folders_;
};

OwnPackages& own_packages() {
  static auto* const instance = new OwnPackages;
  return *instance;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trimmed(line));
}

/// A value of a virtual environment's `pyvenv.cfg`; empty when it has none.
std::string venv_setting(const fs::path& prefix, std::string_view key) {
  std::ifstream file(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view view = line;
    if (trimmed(view.substr(0, equals)) == key) {
      return std::string(trimmed(view.substr(equals + 1)));
    }
  }
  return {};
}

/// The folders `parent/<name><version>`, the newest version first.
std::vector<fs::path> versioned_folders(const fs::path& parent,
                                        std::string_view name) {
  using Found = std::pair<std::vector<unsigned long>, fs::path>;
  std::vector<Found> found;
  std::error_code error;
  fs::directory_iterator entries(parent, error);
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const std::string file_name = entries->path().filename().string();
    if (!file_name.starts_with(name)) continue;
    auto version = version_numbers(file_name.substr(name.size()));
    if (!version.empty())
      found.emplace_back(std::move(version), entries->path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> folders;
  for (Found& entry : found) folders.push_back(std::move(entry.second));
  return folders;
}

/// Adds a folder that is there, once: lib64 is often a link to lib.
void add_folder(const fs::path& folder, std::vector<fs::path>& to) {
  if (!is_folder(folder)) return;
  const bool known = std::any_of(to.begin(), to.end(), [&](const auto& each) {
    std::error_code error;
    return fs::equivalent(each, folder, error);
  });
  if (!known) to.push_back(folder);
}

void add_package_folders(const fs::path& prefix, std::vector<fs::path>& to) {
  // Debian has its packages under lib/python3 and local/lib/python3.x.
  for (const char* lib : {"local/lib", "lib", "lib64"}) {
    std::vector<fs::path> pythons = versioned_folders(prefix / lib, "python");
    for (const fs::path& python : pythons) {
      for (const char* leaf : {"site-packages", "dist-packages"}) {
        add_folder(python / leaf, to);
      }
    }
  }
}

/// The version that pyenv would choose here: its environment variable, the
/// nearest `.python-version`, its global one.
std::string pyenv_version(const ProcessEnvironment& environment,
                          const fs::path& root) {
  std::string version = environment.variable("PYENV_VERSION");
  version.resize(std::min(version.find(':'), version.size()));
  if (!version.empty()) return version;
  fs::path folder = environment.working_directory;
  while (!folder.empty()) {
    version = first_line(folder / ".python-version");
    if (!version.empty()) return version;
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  version = first_line(root / "version");
  return version.empty() ? "system" : version;
}

/// The folder of a pyenv version; `"3.11"` stands for the newest 3.11.x.
fs::path pyenv_prefix(const fs::path& root, const std::string& version) {
  const fs::path versions = root / "versions";
  // It comes from a file: a name, never a way out of the folder.
  if (version.find("..") != std::string::npos) return {};
  if (is_folder(versions / version)) return versions / version;
  const auto matches = versioned_folders(versions, version + '.');
  return matches.empty() ? fs::path() : matches.front();
}

/// A pyenv shim's interpreter; nothing when pyenv leaves it to the system.
std::optional<PythonInterpreter> follow_shim(
    const ProcessEnvironment& environment, const fs::path& shim) {
  const fs::path root = shim.parent_path().parent_path();
  const std::string version = pyenv_version(environment, root);
  if (version == "system") return std::nullopt;
  const fs::path prefix = pyenv_prefix(root, version);
  if (prefix.empty()) {
    return PythonInterpreter{.executable = shim,
                             .prefix = {},
                             .problem = "a pyenv shim for version '" + version +
                                        "', which is not installed"};
  }
  return PythonInterpreter{.executable = shim, .prefix = prefix, .problem = {}};
}

bool is_script(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> start{};
  file.read(start.data(), start.size());
  return start[0] == '#' && start[1] == '!';
}

std::optional<PythonInterpreter> interpreter_at(
    const ProcessEnvironment& environment, const fs::path& executable) {
  if (!is_file(executable) || access(executable.c_str(), X_OK) != 0) {
    return std::nullopt;
  }
  const fs::path folder = executable.parent_path();
  if (is_file(folder.parent_path() / "pyvenv.cfg")) {
    return PythonInterpreter{.executable = executable,
                             .prefix = folder.parent_path(),
                             .problem = {}};
  }
  if (is_script(executable)) {
    if (folder.filename() == "shims") {
      return follow_shim(environment, executable);
    }
    return PythonInterpreter{.executable = executable,
                             .prefix = {},
                             .problem = "a script, not an interpreter"};
  }
  std::error_code error;
  const fs::path real = fs::canonical(executable, error);
  return PythonInterpreter{.executable = executable,
                           .prefix = real.parent_path().parent_path(),
                           .problem = {}};
}

}  // namespace

std::string ProcessEnvironment::variable(std::string_view name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::vector<fs::path> ProcessEnvironment::path_list(
    std::string_view name) const {
  std::vector<fs::path> paths;
  const std::string text = variable(name);
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) paths.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return paths;
}

void set_python_packages(std::vector<fs::path> folders) {
  own_packages().set(std::move(folders));
}

ProcessEnvironment process_environment(const std::string& variable) {
  ProcessEnvironment environment;
  const auto take = [&](const char* name) {
    const char* value = std::getenv(name);
    if (value != nullptr) environment.variables.emplace(name, value);
  };
  for (const char* name : kVariables) take(name);
  take(variable.c_str());
  std::error_code error;
  environment.working_directory = fs::current_path(error);
  const std::string multiarch = kMultiarch;
  environment.system_folders = {
      "/usr/local/lib",
      "/usr/local/lib/" + multiarch,
      "/usr/lib/" + multiarch,
      "/usr/lib64",
      "/usr/lib",
  };
  environment.loaded_libraries = loaded_libraries();
  environment.python_packages = own_packages().folders();
  return environment;
}

PythonInterpreter find_python(const ProcessEnvironment& environment) {
  const auto folders = environment.path_list("PATH");
  for (const char* name : {"python3", "python"}) {
    for (const fs::path& folder : folders) {
      if (auto found = interpreter_at(environment, folder / name)) {
        return *found;
      }
    }
  }
  return {.executable = {}, .prefix = {}, .problem = "no python3 on PATH"};
}

std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  add_package_folders(prefix, folders);
  if (venv_setting(prefix, "include-system-site-packages") == "true") {
    const std::string home = venv_setting(prefix, "home");
    if (!home.empty()) {
      std::error_code error;
      const fs::path bin = fs::canonical(home, error);
      if (!error) add_package_folders(bin.parent_path(), folders);
    }
  }
  return folders;
}

}  // namespace modelrun
