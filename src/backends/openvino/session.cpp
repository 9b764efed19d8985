// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/session.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <openvino/runtime/properties.hpp>
#include <system_error>

#include "backends/common/log_hosts.h"
#include "backends/openvino/compile_options.h"
#include "backends/openvino/element_type.h"

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
    : runtime_(std::move(runtime)), options_(options) {
  const std::shared_ptr<ov::Model> model = read_model(*runtime_, path);
  repairs_ = call(MODELRUN_BACKEND_ERROR, "repairing '" + path + "'",
                  [&] { return repair(*model, options_.skip_repairs); });
  beam_ = find_beam_index(*model);
  signature_ = std::make_unique<const Signature>(
      *model, beam_ ? std::optional(beam_->input) : std::nullopt);
  device_ = find_device(*runtime_, options_.device);
  compile(model, path);
  take_ports();
}

void Session::compile(const std::shared_ptr<ov::Model>& model,
                      const std::string& path) {
  const std::string doing = "compiling '" + path + "' for " + device_.name;
  ov::AnyMap properties = call(MODELRUN_BACKEND_ERROR, doing, [&] {
    return compile_properties(*runtime_, *model, device_, options_);
  });
  const auto compiled_with = [&](const ov::AnyMap& used) {
    return call(MODELRUN_BACKEND_ERROR, doing, [&] {
      return runtime_->core().compile_model(model, device_.openvino_name, used);
    });
  };
  if (options_.cache_dir.empty()) {
    compiled_ = compiled_with(properties);
    return;
  }
  try {
    compiled_ = compiled_with(properties);
  } catch (const Failure& failure) {
    // A full disk or a broken entry is no reason not to run.
    properties.erase(ov::cache_dir.name());
    compiled_ = compiled_with(properties);
    plugin::log_to_host(MODELRUN_LOG_WARNING,
                        "the cache of compiled models in '" +
                            options_.cache_dir +
                            "' is not used: " + failure.what());
  }
}

void Session::take_ports() {
  const auto& inputs = compiled_.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (beam_ && i == beam_->input) {
      beam_port_ = inputs[i];
    } else {
      inputs_.push_back(inputs[i]);
    }
  }
  outputs_ = compiled_.outputs();
  if (beam_ && beam_->batch_input > beam_->input) --beam_->batch_input;
}

ov::InferRequest Session::make_request() const {
  return call(MODELRUN_BACKEND_ERROR, "making a request",
              [&] { return compiled_.create_infer_request(); });
}

std::string Session::describe() const {
  nlohmann::json text{
      {"device", device_.name},
      {"device_name", runtime_->core().get_property(device_.openvino_name,
                                                    ov::device::full_name)},
      {"threads", options_.threads},
      {"precision", precision_of(compiled_, "INFERENCE_PRECISION_HINT")},
      {"execution_devices", property_of(compiled_, "EXECUTION_DEVICES")},
      {"streams", property_of(compiled_, "NUM_STREAMS")},
      {"kv_cache_precision", precision_of(compiled_, "KV_CACHE_PRECISION")},
      {"dynamic_quantization_group_size",
       property_of(compiled_, "DYNAMIC_QUANTIZATION_GROUP_SIZE")}};
  const std::string threads = property_of(compiled_, "INFERENCE_NUM_THREADS");
  if (!threads.empty()) text["threads"] = std::stoi(threads);
  text["repairs"] = nlohmann::json::object();
  for (const auto& [name, places] : repairs_) text["repairs"][name] = places;
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace modelrun::openvino
