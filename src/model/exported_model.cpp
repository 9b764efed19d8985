// SPDX-License-Identifier: Apache-2.0
#include "modelrun/exported_model.h"

#include <utility>

#include "core/nearest.h"
#include "model/describe.h"
#include "model/json_value.h"
#include "model/model_state.h"
#include "model/save_export.h"
#include "model/warmup.h"
#include "modelrun/backends.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

using detail::LoadedComponent;
using detail::ModelState;

std::vector<std::string> names_of(const ModelState& state) {
  std::vector<std::string> names;
  for (const LoadedComponent& loaded : state.components) {
    names.push_back(loaded.component->name);
  }
  return names;
}

const LoadedComponent& single_component(const ModelState& state) {
  if (state.components.size() != 1) {
    throw InvalidArgument("this export has " +
                          std::to_string(state.components.size()) +
                          " components (" + quoted_list(names_of(state)) +
                          "): call one of them, by component(name)");
  }
  return state.components.front();
}

// The runner of the one component that a call means.
const std::shared_ptr<const ModelRunner>& single_runner(
    const ModelState& state) {
  const LoadedComponent& loaded = single_component(state);
  if (loaded.runner == nullptr) {
    const auto backends = registered_backends();
    throw Unsupported("no registered backend reads the format '" +
                      state.format + "' of component '" +
                      loaded.component->name +
                      "' (registered: " + quoted_list(backends) + ")");
  }
  return loaded.runner;
}

Value report_of(const LoadedComponent& loaded) {
  if (loaded.runner == nullptr) return {};
  const Session& session = loaded.runner->session();
  const Backend& backend = session.backend();
  std::vector<std::pair<std::string, Value>> report{
      {"backend", backend.name()},
      {"runtime_path", backend.runtime_path().string()}};
  const Value runtime = value_from_json(backend.describe(), backend.name());
  for (const char* key : {"runtime", "version"}) {
    if (runtime.contains(key)) report.emplace_back(key, runtime[key]);
  }
  const Value running = value_from_json(session.describe(), backend.name());
  for (const std::string& key : running.keys()) {
    report.emplace_back(key, running[key]);
  }
  return Value::mapping(std::move(report));
}

}  // namespace

ExportedModel::ExportedModel(std::shared_ptr<const ModelState> state)
    : state_(std::move(state)) {}

ExportedModel ExportedModel::from_pretrained(const std::filesystem::path& path,
                                             const LoadOptions& options) {
  Artifact artifact = load_artifact(
      path, {.file_name = options.file_name, .subfolder = options.subfolder});
  auto state = std::make_shared<ModelState>();
  state->options = options;
  state->directory = artifact.directory;
  state->config = value_from_json(artifact.config, "config.json");
  state->generation_config =
      value_from_json(artifact.generation_config, "generation_config.json");
  for (Component& component : artifact.components) {
    state->format = component.format;
    state->components.push_back(detail::load_component(
        std::make_shared<const Component>(std::move(component)), options));
  }
  return ExportedModel(std::move(state));
}

Outputs ExportedModel::operator()(Kwargs kwargs,
                                  const CallOptions& options) const {
  return (*single_runner(*state_))(kwargs, options);
}

BoundCall ExportedModel::bind(Kwargs kwargs) const {
  return BoundCall(
      std::make_unique<detail::BoundRun>(single_runner(*state_), kwargs));
}

std::vector<std::string> ExportedModel::components() const {
  return names_of(*state_);
}

ExportedModel ExportedModel::component(std::string_view name) const {
  for (const LoadedComponent& loaded : state_->components) {
    if (loaded.component->name != name) continue;
    auto one = std::make_shared<ModelState>(*state_);
    one->components = {loaded};
    return ExportedModel(std::move(one));
  }
  const auto names = components();
  throw NotFound("no component '" + std::string(name) + "' in this export" +
                 did_you_mean(name, names) + " (it has " + quoted_list(names) +
                 ")");
}

const std::string& ExportedModel::format() const noexcept {
  return state_->format;
}

const Value& ExportedModel::config() const noexcept { return state_->config; }

const Value& ExportedModel::generation_config() const noexcept {
  return state_->generation_config;
}

DType ExportedModel::dtype() const {
  for (const LoadedComponent& loaded : state_->components) {
    const auto& metadata = loaded.component->metadata;
    if (metadata && metadata->export_dtype) return *metadata->export_dtype;
  }
  throw NotFound(
      "nothing records the dtype that this export was traced at: it has no "
      "export.json");
}

Device ExportedModel::device() const {
  for (const LoadedComponent& loaded : state_->components) {
    if (loaded.runner != nullptr) return loaded.runner->device();
  }
  throw Unsupported(
      "this export runs nowhere: no registered backend reads "
      "the format '" +
      state_->format + "'");
}

ComponentDescription ExportedModel::program() const {
  const LoadedComponent& loaded = single_component(*state_);
  ComponentDescription description =
      detail::describe_component(*loaded.component);
  if (loaded.runner == nullptr) return description;
  // What the runtime made of the program, whatever the format.
  const Signature& signature = loaded.runner->session().signature();
  description.inputs = detail::describe_ports(signature.inputs);
  description.outputs = detail::describe_ports(signature.outputs);
  return description;
}

void ExportedModel::save_pretrained(
    const std::filesystem::path& directory) const {
  detail::save_export(*state_, directory);
}

Value ExportedModel::report() const {
  std::vector<std::pair<std::string, Value>> reports;
  for (const LoadedComponent& loaded : state_->components) {
    reports.emplace_back(loaded.component->name, report_of(loaded));
  }
  return Value::mapping(std::move(reports));
}

ExportedModel& ExportedModel::to(Device device) {
  auto moved = std::make_shared<ModelState>(*state_);
  moved->options.device = device;
  for (LoadedComponent& loaded : moved->components) {
    loaded = detail::load_component(loaded.component, moved->options);
  }
  state_ = std::move(moved);
  return *this;
}

void ExportedModel::warmup() const {
  for (const LoadedComponent& loaded : state_->components) {
    if (loaded.runner != nullptr) {
      detail::warm_up(*loaded.runner, *loaded.component);
    }
  }
}

BoundCall::BoundCall(std::unique_ptr<detail::BoundRun> run)
    : run_(std::move(run)) {}
BoundCall::BoundCall(BoundCall&&) noexcept = default;
BoundCall& BoundCall::operator=(BoundCall&&) noexcept = default;
BoundCall::~BoundCall() = default;

const Outputs& BoundCall::operator()(std::stop_token stop) {
  return run_->run(stop);
}

}  // namespace modelrun
