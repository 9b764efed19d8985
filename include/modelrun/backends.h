// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct modelrun_backend_table;

namespace modelrun {

/// A plugin that runs programs, and the formats that it reads.
struct BackendRegistration {
  /// What users type: `"onnxruntime"`.
  std::string name;
  /// The export formats that it reads: `"onnx"`, `"openvino"`, ...
  std::vector<std::string> formats;
  /// The plugin's shared library, opened when it is first needed. A bare file
  /// name is looked for in the folder that the environment variable
  /// `MODELRUN_PLUGIN_PATH` names, and then in `modelrun/` beside this library.
  /// For a runtime whose plugins are each built for a release, `x.so` stands
  /// for the files `x-<release>.so`.
  std::filesystem::path plugin;
  /// A table that is in the process already, instead of `plugin`. No runtime is
  /// looked for.
  const modelrun_backend_table* table = nullptr;
};

/// Adds a backend, or replaces one of the same name, with a warning. It becomes
/// the default for each of its formats that has none yet. Thread-safe; models
/// that are loaded keep what they have.
void register_backend(BackendRegistration registration);

/// The names that `LoadOptions::backend` takes, in the order registered.
[[nodiscard]] std::vector<std::string> registered_backends();

/// The options of its own that a backend takes in `LoadOptions::options`. Opens
/// its runtime. Throws NotFound when the backend or its runtime is not there.
[[nodiscard]] std::vector<std::string> backend_options(
    std::string_view backend, const std::filesystem::path& runtime_path = {});

/// The backend that runs a format when none is named; empty when no registered
/// backend reads it.
[[nodiscard]] std::string default_backend(std::string_view format);

/// One place where a runtime was looked for.
struct RuntimeAttempt {
  /// Why this place: `"option runtime_path"`, `"MODELRUN_ONNXRUNTIME"`,
  /// `"this process"`, `"this Python"`, `"VIRTUAL_ENV"`, `"CONDA_PREFIX"`,
  /// `"python3 on PATH"`,
  /// `"LD_LIBRARY_PATH"`, `"system libraries"`.
  std::string source;
  /// The file or directory that was looked at.
  std::string where;
  /// `"found"`, or why not.
  std::string result;
};

/// Where a backend's runtime is, or where it was looked for.
struct RuntimeSearch {
  std::string backend;
  /// The shared library; empty when none was found.
  std::filesystem::path library;
  /// As `"1.32.0"`; empty when its file and its package do not tell.
  std::string version;
  std::vector<RuntimeAttempt> tried;
  /// The one command that adds it.
  std::string fix;
};

/// Looks for the runtime of a registered backend, in this order:
/// `explicit_path` (a library or a folder that holds it), the environment
/// variable `MODELRUN_<BACKEND>`, the libraries that this process has open (for
/// a runtime of which it can have only one), the packages of the Python that
/// this process is (`set_python_packages`), the active Python environment
/// (`VIRTUAL_ENV`, `CONDA_PREFIX`), the one of the `python3` on PATH, the
/// system's libraries.
/// A place that is named explicitly and holds none is an end: nothing else is
/// taken instead. Opens nothing.
[[nodiscard]] RuntimeSearch find_runtime(
    std::string_view backend, const std::filesystem::path& explicit_path = {});

/// Tells the folders that this process imports Python packages from, when it is
/// a Python. Thread-safe.
void set_python_packages(std::vector<std::filesystem::path> folders);

}  // namespace modelrun
