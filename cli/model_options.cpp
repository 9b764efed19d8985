// SPDX-License-Identifier: Apache-2.0
#include "cli/model_options.h"

#include <algorithm>

#include "cli/arguments.h"
#include "modelrun/backends.h"
#include "modelrun/inspect.h"

namespace modelrun::cli {
namespace {

// Whether the runtime that this export needs is what could not be found.
bool lacks_runtime(const ModelOptions& options) {
  const std::string format =
      inspect(options.path,
              {.subfolder = options.subfolder, .file_name = options.file_name})
          .format;
  const std::string backend =
      options.backend.empty() ? default_backend(format) : options.backend;
  const auto known = registered_backends();
  if (std::find(known.begin(), known.end(), backend) == known.end()) {
    return false;
  }
  return find_runtime(backend, options.runtime).library.empty();
}

template <typename Open>
auto open(const ModelOptions& options, Open&& open_it) {
  const LoadOptions load = load_options(options);
  try {
    return open_it(load);
  } catch (const NotFound& error) {
    if (!lacks_runtime(options)) throw;
    throw BackendError(error.what());
  }
}

}  // namespace

void add_export_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option("DIR", options.path,
                  "The export: a directory or a program file")
      ->required();
  command.add_option("--subfolder", options.subfolder,
                     "The folder of the directory that holds the export");
  command.add_option("--file-name", options.file_name,
                     "The one of several program files to take");
  command.add_flag("--json", options.json, "Print one JSON object");
}

void add_load_options(CLI::App& command, ModelOptions& options) {
  command.add_option("--backend", options.backend,
                     "What runs it, such as onnxruntime");
  command.add_option("--device", options.device,
                     "Where it runs, such as cpu or cuda:0");
  command
      .add_option("--threads", options.threads,
                  "Threads of a call; by default the usable cores")
      ->check(CLI::Range(1, 4096));
  command
      .add_option("--option", options.options,
                  "An option of the backend, key=value; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command
      .add_option("--runtime", options.runtime,
                  "The runtime's library, or the folder that holds it")
      ->type_name("PATH");
}

void add_component_option(CLI::App& command, ModelOptions& options) {
  command.add_option("--component", options.component,
                     "The one of several components to take");
}

LoadOptions load_options(const ModelOptions& options) {
  LoadOptions load;
  load.subfolder = options.subfolder;
  load.file_name = options.file_name;
  load.backend = options.backend;
  load.runtime_path = options.runtime;
  if (!options.device.empty()) {
    load.device = Device::from_string(options.device);
  }
  if (options.threads > 0) load.threads = options.threads;
  for (const std::string& option : options.options) {
    const auto equals = option.find('=');
    if (equals == option.npos || equals == 0) {
      throw UsageError("--option: expected key=value, got '" + option + "'");
    }
    load.options.emplace_back(option.substr(0, equals),
                              scalar_of(option.substr(equals + 1)));
  }
  return load;
}

ExportedModel open_model(const ModelOptions& options) {
  return open(options, [&](const LoadOptions& load) {
    ExportedModel model = ExportedModel::from_pretrained(options.path, load);
    return options.component.empty() ? model
                                     : model.component(options.component);
  });
}

Embedder open_embedder(const ModelOptions& options) {
  return open(options, [&](const LoadOptions& load) {
    return Embedder::from_pretrained(options.path, load);
  });
}

}  // namespace modelrun::cli
