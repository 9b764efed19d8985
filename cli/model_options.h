// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "modelrun/embedder.h"
#include "modelrun/exported_model.h"

namespace modelrun::cli {

/// Which export a command opens, and how.
struct ModelOptions {
  std::string path;
  std::string subfolder;
  std::string file_name;
  std::string component;
  std::string backend;
  std::string device;
  int threads = 0;
  std::vector<std::string> options;
  std::string runtime;
  bool json = false;
};

/// The export's place: every command that opens one has these.
void add_export_options(CLI::App& command, ModelOptions& options);
/// How it is run.
void add_load_options(CLI::App& command, ModelOptions& options);
/// The program of several to take.
void add_component_option(CLI::App& command, ModelOptions& options);

/// Throws UsageError for an option that is not `key=value`.
[[nodiscard]] LoadOptions load_options(const ModelOptions& options);

/// Each throws BackendError when what is missing is not the export, but the
/// runtime.
[[nodiscard]] ExportedModel open_model(const ModelOptions& options);
[[nodiscard]] Embedder open_embedder(const ModelOptions& options);

}  // namespace modelrun::cli
