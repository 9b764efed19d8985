// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "backend/python_environment.h"
#include "modelrun/backends.h"

namespace modelrun {

/// Where one backend's runtime may be; all that a search knows of it.
struct RuntimeDescription {
  const char* backend;
  /// The library's file name, without a version.
  const char* library;
  /// Where its Python package keeps it, below `site-packages`.
  const char* package_folder;
  /// The one command that adds it.
  const char* fix;
  /// Whether the plugin links the runtime. It is then one of several, each
  /// built for a release, and runs with that which a process has open already.
  bool release_tied = false;
};

/// The description of a backend that needs a runtime from outside; null for
/// one that does not.
[[nodiscard]] const RuntimeDescription* runtime_description(
    std::string_view backend) noexcept;

/// The environment variable that names a backend's runtime:
/// `"MODELRUN_ONNXRUNTIME"`.
[[nodiscard]] std::string runtime_variable(std::string_view backend);

/// `find_runtime` in a given environment.
[[nodiscard]] RuntimeSearch search_runtime(
    const RuntimeDescription& description,
    const std::filesystem::path& explicit_path,
    const ProcessEnvironment& environment);

/// The message for a search that found nothing: every place that was tried, and
/// the command that adds the runtime.
[[nodiscard]] std::string missing_runtime(const RuntimeSearch& search);

}  // namespace modelrun
