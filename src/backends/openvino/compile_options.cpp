// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/compile_options.h"

#include <algorithm>
#include <openvino/runtime/properties.hpp>
#include <vector>

#include "backends/openvino/precision.h"

namespace modelrun::openvino {
namespace {

/// Whether the device lets the property be set: an NPU has no threads, a GPU
/// no cache of keys and values.
bool has_property(const std::vector<ov::PropertyName>& supported,
                  const std::string& key) {
  return std::any_of(supported.begin(), supported.end(),
                     [&](const ov::PropertyName& each) {
                       return each == key && each.is_mutable();
                     });
}

/// What is said of the export, and where it says nothing the precision of its
/// graph: the runtime's own defaults are faster and less exact (bfloat16, a
/// cache of 8 bits, activations quantized on the way).
std::map<std::string, std::string> precision_properties(
    const ov::Model& model) {
  auto properties = recorded_precision(model);
  const auto& hint = properties
                         .emplace("INFERENCE_PRECISION_HINT",
                                  graph_precision(model).get_type_name())
                         .first->second;
  properties.emplace("KV_CACHE_PRECISION", hint);
  properties.emplace("DYNAMIC_QUANTIZATION_GROUP_SIZE", "0");
  return properties;
}

}  // namespace

ov::AnyMap compile_properties(const Runtime& runtime, const ov::Model& model,
                              const Device& device, const Options& options) {
  const auto supported = runtime.core().get_property(device.openvino_name,
                                                     ov::supported_properties);
  std::map<std::string, std::string> wanted = precision_properties(model);
  wanted["PERFORMANCE_HINT"] = "LATENCY";
  wanted["INFERENCE_NUM_THREADS"] = std::to_string(options.threads);
  std::erase_if(wanted, [&](const auto& each) {
    return !has_property(supported, each.first);
  });
  if (!options.cache_dir.empty()) {
    wanted[ov::cache_dir.name()] = options.cache_dir;
  }
  for (const auto& [key, value] : options.config) wanted[key] = value;
  // A stream of one thread loses what a kernel throws, and the model that is
  // compiled next crashes (2026.4.1); without a stream the caller's thread
  // computes, and throws.
  if (device.name == "cpu" && wanted["INFERENCE_NUM_THREADS"] == "1") {
    wanted.emplace("NUM_STREAMS", "0");
  }
  ov::AnyMap properties;
  for (const auto& [key, value] : wanted) properties[key] = value;
  return properties;
}

}  // namespace modelrun::openvino
