// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun {

/// What a search reads of the process, so that tests can give their own.
struct ProcessEnvironment {
  std::map<std::string, std::string, std::less<>> variables;
  std::filesystem::path working_directory;
  /// Where the dynamic linker looks, in its order.
  std::vector<std::filesystem::path> system_folders;
  /// The shared libraries that are open.
  std::vector<std::filesystem::path> loaded_libraries;
  /// Where the Python that this process is has its packages; empty when it is
  /// none.
  std::vector<std::filesystem::path> python_packages;

  /// The variable's value; empty when it is not set.
  [[nodiscard]] std::string variable(std::string_view name) const;
  /// The entries of a variable such as PATH, empty ones left out: they mean
  /// the working directory, which is no place to load code from.
  [[nodiscard]] std::vector<std::filesystem::path> path_list(
      std::string_view name) const;
};

/// The environment of this process, with `variable` besides those that every
/// search reads.
[[nodiscard]] ProcessEnvironment process_environment(
    const std::string& variable);

/// The interpreter that a shell would start, found without starting it.
struct PythonInterpreter {
  /// The file on PATH; empty when there is none.
  std::filesystem::path executable;
  /// Its `sys.prefix`; empty when it cannot be told.
  std::filesystem::path prefix;
  /// Why the prefix cannot be told.
  std::string problem;
};

/// The first `python3`, or else `python`, on PATH. A virtual environment is
/// known by its `pyvenv.cfg`; a pyenv shim is followed to the version that
/// pyenv would choose.
[[nodiscard]] PythonInterpreter find_python(
    const ProcessEnvironment& environment);

/// The folders that a Python with this prefix imports packages from, the
/// newest Python first; a virtual environment that includes its base's
/// packages adds those.
[[nodiscard]] std::vector<std::filesystem::path> package_folders(
    const std::filesystem::path& prefix);

}  // namespace modelrun
