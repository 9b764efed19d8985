// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/session.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <openvino/runtime/properties.hpp>
#include <system_error>

#include "backends/common/log_hosts.h"
#include "backends/openvino/compile_options.h"
#include "backends/openvino/element_type.h"
#include "backends/openvino/narrow_integers.h"
#include "backends/openvino/onnx_outputs.h"
#include "backends/openvino/unsupported_nodes.h"

namespace modelrun::openvino {
namespace {

std::shared_ptr<ov::Model> read_model(const Runtime& runtime,
                                      const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw Failure(MODELRUN_NOT_FOUND,
                  "cannot load '" + path + "': there is no such file");
  }
  return call(MODELRUN_INVALID_ARGUMENT, "reading '" + path + "'",
              [&] { return runtime.core().read_model(path); });
}

/// The text of a property; empty when the device has none of that name.
std::string property_of(const ov::CompiledModel& model, const char* name) {
  try {
    return model.get_property(name).as<std::string>();
  } catch (const std::exception&) {
    return {};
  }
}

std::string precision_of(const ov::CompiledModel& model, const char* property) {
  const std::string text = property_of(model, property);
  return text.empty() ? text : type_name(ov::element::Type(text));
}

}  // namespace

Session::Session(std::shared_ptr<const Runtime> runtime,
                 const std::string& path, const Options& options)
    : runtime_(std::move(runtime)),
      options_(options),
      path_(path),
      model_(read_model(*runtime_, path)) {
  refuse_unsupported_nodes(*model_);
  check_onnx_outputs(*model_, path);
  repairs_ = call(MODELRUN_BACKEND_ERROR, "repairing '" + path + "'",
                  [&] { return repair(*model_, options_.skip_repairs); });
  beam_ = find_beam_index(*model_);
  signature_ = std::make_unique<const Signature>(*model_, beam_input());
  device_ = find_device(*runtime_, options_.device);
  is_damaged_by_failure_ = device_.name == "cpu" && model_->is_dynamic();
  make_program();
  // The model is only kept to compile it again.
  if (!is_damaged_by_failure_) model_.reset();
}

void Session::make_program() {
  passed_.emplace(*model_, beam_input());
  program_ = compile();
  if (!narrows_integers()) return;
  const bool has_more =
      call(MODELRUN_BACKEND_ERROR, "looking for outputs that are inputs",
           [&] { return passed_->take_found(*model_, program_->compiled); });
  if (has_more) program_ = compile();
  find_narrowed_inputs();
}

void Session::find_narrowed_inputs() {
  const auto& parameters = model_->get_parameters();
  std::size_t index = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i == beam_input()) continue;
    const bool is_read = !parameters[i]->get_output_target_inputs(0).empty();
    if (is_read && is_narrowed(parameters[i]->get_element_type())) {
      narrowed_inputs_.push_back(index);
    }
    ++index;
  }
}

std::shared_ptr<Program> Session::compile() const {
  const std::string doing = "compiling '" + path_ + "' for " + device_.name;
  ov::AnyMap properties = call(MODELRUN_BACKEND_ERROR, doing, [&] {
    return compile_properties(*runtime_, *model_, device_, options_);
  });
  const auto compiled_with = [&](const ov::AnyMap& used) {
    return call(MODELRUN_BACKEND_ERROR, doing, [&] {
      return std::make_shared<Program>(
          runtime_->core().compile_model(model_, device_.openvino_name, used),
          beam_input(), *passed_);
    });
  };
  if (options_.cache_dir.empty()) return compiled_with(properties);
  try {
    return compiled_with(properties);
  } catch (const Failure& failure) {
    // A full disk or a broken entry is no reason not to run.
    properties.erase(ov::cache_dir.name());
    auto program = compiled_with(properties);
    plugin::log_to_host(MODELRUN_LOG_WARNING,
                        "the cache of compiled models in '" +
                            options_.cache_dir +
                            "' is not used: " + failure.what());
    return program;
  }
}

std::shared_ptr<Program> Session::program() const {
  const std::lock_guard lock(mutex_);
  if (program_->is_damaged) {
    program_ = compile();
    plugin::log_to_host(MODELRUN_LOG_INFO,
                        "'" + path_ + "' was compiled anew after a failed run");
  }
  return program_;
}

nlohmann::json Session::describe() const {
  const ov::CompiledModel compiled = program()->compiled;
  nlohmann::json text{
      {"device", device_.name},
      {"memory_device", "cpu"},
      {"device_name", runtime_->core().get_property(device_.openvino_name,
                                                    ov::device::full_name)},
      {"threads", options_.threads},
      {"precision", precision_of(compiled, "INFERENCE_PRECISION_HINT")},
      {"execution_devices", property_of(compiled, "EXECUTION_DEVICES")},
      {"streams", property_of(compiled, "NUM_STREAMS")},
      {"kv_cache_precision", precision_of(compiled, "KV_CACHE_PRECISION")},
      {"dynamic_quantization_group_size",
       property_of(compiled, "DYNAMIC_QUANTIZATION_GROUP_SIZE")}};
  const std::string threads = property_of(compiled, "INFERENCE_NUM_THREADS");
  // 0: the caller's thread alone.
  if (!threads.empty()) text["threads"] = std::max(1, std::stoi(threads));
  text["repairs"] = nlohmann::json::object();
  for (const auto& [name, places] : repairs_) text["repairs"][name] = places;
  return text;
}

}  // namespace modelrun::openvino
