// SPDX-License-Identifier: Apache-2.0
#include "backend/runtime_search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <system_error>
#include <utility>

#include "backend/library_file.h"
#include "backend/runtime_library.h"

namespace modelrun {

namespace fs = std::filesystem;

namespace {

constexpr std::array kDescriptions = {
    RuntimeDescription{.backend = "onnxruntime",
                       .library = "libonnxruntime.so",
                       .package_folder = "onnxruntime/capi",
                       .fix = "pip install onnxruntime"},
    RuntimeDescription{.backend = "openvino",
                       .library = "libopenvino.so",
                       .package_folder = "openvino/libs",
                       .fix = "pip install openvino==2026.4.1",
                       .release_tied = true},
    RuntimeDescription{.backend = "executorch",
                       .library = "libexecutorch.so",
                       .package_folder = "executorch/lib",
                       .fix = "pip install executorch==1.5.1",
                       .release_tied = true},
    RuntimeDescription{.backend = "torch",
                       .library = "libtorch_cpu.so",
                       .package_folder = "torch/lib",
                       .fix = "pip install torch==2.15.0",
                       .release_tied = true},
};

constexpr const char* kOption = "option runtime_path";

/// One search in progress. Each step returns whether the search is at its end.
class Search {
 public:
  Search(const RuntimeDescription& description,
         const ProcessEnvironment& environment)
      : description_(description), environment_(environment) {
    search_.backend = description.backend;
    search_.fix = description.fix;
  }

  RuntimeSearch run(const fs::path& explicit_path) {
    if (explicit_path.empty()) {
      look_around();
    } else {
      look_at_named(kOption, explicit_path);
    }
    return std::move(search_);
  }

 private:
  void look_around() {
    const std::string variable = runtime_variable(description_.backend);
    const std::string named = environment_.variable(variable);
    if (!named.empty()) return look_at_named(variable, named);
    note(variable, "", "not set");
    if (take_loaded()) return;
    for (const fs::path& folder : environment_.python_packages) {
      if (look_in("this Python", folder / description_.package_folder)) return;
    }
    if (look_in_active("VIRTUAL_ENV") || look_in_active("CONDA_PREFIX") ||
        look_in_python()) {
      return;
    }
    for (const fs::path& folder : environment_.path_list("LD_LIBRARY_PATH")) {
      if (look_in("LD_LIBRARY_PATH", folder)) return;
    }
    for (const fs::path& folder : environment_.system_folders) {
      if (look_in("system libraries", folder)) return;
    }
  }

  void note(const std::string& source, const fs::path& where,
            const std::string& result) {
    search_.tried.push_back({source, where.string(), result});
  }

  bool take(const std::string& source, const fs::path& library) {
    std::error_code error;
    const fs::path absolute = fs::absolute(library, error);
    search_.library = error ? library : absolute;
    note(source, search_.library, "found");
    search_.version =
        runtime_version(search_.library, description_.package_folder);
    return true;
  }

  bool take_loaded() {
    if (!description_.release_tied) return false;
    const fs::path loaded =
        find_loaded(environment_.loaded_libraries, description_.library);
    return !loaded.empty() && take("this process", loaded);
  }

  bool look_in(const std::string& source, const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(folder, error);
    if (!seen_.insert(error ? folder : real).second) {
      note(source, folder, "looked at already");
      return false;
    }
    LibraryFile file = find_library_file(folder, description_.library);
    if (!file.path.empty()) return take(source, file.path);
    note(source, folder, file.result);
    return false;
  }

  /// A library or a folder that the user named.
  void look_at_named(const std::string& source, const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_regular_file(status)) {
      take(source, path);
    } else if (fs::is_directory(status)) {
      // An unpacked release has its library in lib.
      if (!look_in(source, path)) look_in(source, path / "lib");
    } else {
      note(source, path,
           fs::exists(status) ? "neither a file nor a folder"
                              : "no such file or folder");
    }
  }

  bool look_in_prefix(const std::string& source, const fs::path& prefix) {
    const auto folders = package_folders(prefix);
    if (folders.empty()) {
      note(source, prefix, "has no lib/python3*/site-packages");
    }
    return std::any_of(folders.begin(), folders.end(), [&](const fs::path& at) {
      return look_in(source, at / description_.package_folder);
    });
  }

  bool look_in_active(const char* variable) {
    const fs::path prefix = environment_.variable(variable);
    if (prefix.empty()) {
      note(variable, "", "not set");
      return false;
    }
    return look_in_prefix(variable, prefix) ||
           look_in(variable, prefix / "lib");
  }

  bool look_in_python() {
    const std::string source = "python3 on PATH";
    const PythonInterpreter python = find_python(environment_);
    if (python.prefix.empty()) {
      note(source, python.executable, python.problem);
      return false;
    }
    return look_in_prefix(source, python.prefix);
  }

  const RuntimeDescription& description_;
  const ProcessEnvironment& environment_;
  RuntimeSearch search_;
  std::set<fs::path> seen_;
};

}  // namespace

const RuntimeDescription* runtime_description(
    std::string_view backend) noexcept {
  const auto* found = std::find_if(
      kDescriptions.begin(), kDescriptions.end(),
      [&](const RuntimeDescription& each) { return each.backend == backend; });
  return found == kDescriptions.end() ? nullptr : found;
}

std::string runtime_variable(std::string_view backend) {
  std::string variable = "MODELRUN_";
  for (const char c : backend) {
    const auto byte = static_cast<unsigned char>(c);
    variable +=
        std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return variable;
}

RuntimeSearch search_runtime(const RuntimeDescription& description,
                             const fs::path& explicit_path,
                             const ProcessEnvironment& environment) {
  return Search(description, environment).run(explicit_path);
}

std::string missing_runtime(const RuntimeSearch& search) {
  std::string text =
      "the runtime of backend '" + search.backend + "' was not found; tried";
  for (const RuntimeAttempt& attempt : search.tried) {
    text += "\n  " + attempt.source + ": ";
    if (!attempt.where.empty()) text += attempt.where + ": ";
    text += attempt.result;
  }
  text += '\n';
  if (!search.fix.empty()) text += "add it with '" + search.fix + "', or ";
  return text + "name it with the " + kOption +
         " or the environment variable " + runtime_variable(search.backend);
}

}  // namespace modelrun
