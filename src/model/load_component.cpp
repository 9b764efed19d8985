// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "artifact/json_text.h"
#include "artifact/onnx_program.h"
#include "backend/registry.h"
#include "core/nearest.h"
#include "model/model_state.h"
#include "model/onnx_layout.h"
#include "modelrun/backends.h"
#include "modelrun/error.h"
#include "modelrun/log.h"

namespace modelrun::detail {
namespace {

Json json_of(const Scalar& scalar) {
  return std::visit(
      [](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return Json(nullptr);
        } else {
          return Json(value);
        }
      },
      scalar);
}

// The scalars that are part of a program which takes its inputs by position.
Json positional_constants(const Metadata& metadata) {
  Json list = Json::array();
  if (metadata.in_spec == nullptr) return list;
  for (const auto& [name, value] : metadata.in_constants) {
    const Structure* leaf = metadata.in_spec->find(name);
    if (leaf == nullptr || !leaf->is_leaf()) continue;
    list.push_back({leaf->leaf_index(), json_of(value)});
  }
  return list;
}

bool takes_option(const Backend& backend, const std::string& key) {
  const Json description = parse_json(backend.describe(), backend.name());
  if (!description.contains("options")) return false;
  const Json& keys = description["options"];
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string session_options(const Component& component,
                            const LoadOptions& options,
                            const Backend& backend) {
  Json json = Json::object();
  if (options.device) json["device"] = to_string(*options.device);
  if (options.threads) json["threads"] = *options.threads;
  for (const auto& [key, value] : options.options) {
    if (json.contains(key)) {
      throw InvalidArgument("option '" + key + "' is given twice");
    }
    json[key] = json_of(value);
  }
  if (component.metadata && takes_option(backend, "in_constants")) {
    json["in_constants"] = positional_constants(*component.metadata);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What the program's own file shows: that its weights are there and within the
// export, and which inputs index an embedding.
std::vector<IndexedRows> check_program(const Component& component) {
  std::vector<IndexedRows> rows;
  if (component.format != "onnx") return rows;
  const OnnxProgram program = load_onnx_program(component.file);
  check_onnx_layout(program);
  (void)external_data_files(program);
  for (const OnnxIndexInput& input : program.index_inputs) {
    rows.push_back({input.input, input.rows});
  }
  return rows;
}

std::string backend_for(const Component& component,
                        const LoadOptions& options) {
  if (options.backend.empty()) return default_backend(component.format);
  const auto formats = backend_formats(options.backend);
  if (std::find(formats.begin(), formats.end(), component.format) ==
      formats.end()) {
    throw Unsupported("backend '" + options.backend + "' reads " +
                      quoted_list(formats) + ", but component '" +
                      component.name + "' is '" + component.format + "'");
  }
  return options.backend;
}

// The graph wins over the manifest, and a disagreement is told.
void warn_of_static_graph(const Component& component, const Session& session) {
  if (!component.metadata) return;
  const Json config =
      parse_json(component.metadata->export_config, "export_config");
  if (!config.is_object() || !config.contains("dynamic") ||
      config["dynamic"] != true) {
    return;
  }
  const auto& inputs = session.signature().inputs;
  const bool fixed =
      std::all_of(inputs.begin(), inputs.end(), [](const Port& port) {
        return port.ranked && std::all_of(port.dims.begin(), port.dims.end(),
                                          [](auto dim) { return dim >= 0; });
      });
  if (fixed && !inputs.empty()) {
    log(LogLevel::warning,
        "export.json says that component '" + component.name +
            "' is dynamic, but every input of its program has a fixed shape");
  }
}

// Where inputs and outputs are: not always where the program runs.
Device session_device(const Session& session) {
  const Json report = parse_json(session.describe(), "session report");
  const char* key =
      report.contains("memory_device") ? "memory_device" : "device";
  return Device::from_string(json_string(report[key], key));
}

}  // namespace

LoadedComponent load_component(std::shared_ptr<const Component> component,
                               const LoadOptions& options) {
  const std::string name = backend_for(*component, options);
  if (name.empty()) return {std::move(component), nullptr};
  std::vector<IndexedRows> rows = check_program(*component);
  auto backend = open_backend(name, options.runtime_path);
  const std::string text = session_options(*component, options, *backend);
  auto session = Session::create(std::move(backend), component->file, text);
  warn_of_static_graph(*component, *session);
  RunnerOptions runner_options{
      .component = component->name,
      .device = session_device(*session),
      .check_recorded_shapes = options.check_recorded_shapes,
      .indexed_rows = std::move(rows)};
  const Metadata* metadata =
      component->metadata ? &*component->metadata : nullptr;
  auto runner = std::make_shared<const ModelRunner>(
      std::move(session), metadata, std::move(runner_options));
  return {std::move(component), std::move(runner)};
}

}  // namespace modelrun::detail
