// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/precision.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace modelrun::openvino {
namespace {

constexpr std::array<std::string_view, 8> kProducts{
    "MatMul",           "Convolution",
    "GroupConvolution", "LSTMCell",
    "LSTMSequence",     "GRUSequence",
    "RNNSequence",      "ScaledDotProductAttention"};

constexpr std::array kRecorded{
    "ACTIVATIONS_SCALE_FACTOR", "DYNAMIC_QUANTIZATION_GROUP_SIZE",
    "INFERENCE_PRECISION_HINT", "KEY_CACHE_GROUP_SIZE",
    "KEY_CACHE_PRECISION",      "KV_CACHE_PRECISION",
    "VALUE_CACHE_GROUP_SIZE",   "VALUE_CACHE_PRECISION"};

bool is_product(const ov::Node& node) {
  const std::string_view type = node.get_type_name();
  return std::find(kProducts.begin(), kProducts.end(), type) != kProducts.end();
}

}  // namespace

ov::element::Type graph_precision(const ov::Model& model) {
  ov::element::Type widest = ov::element::dynamic;
  for (const auto& node : model.get_ops()) {
    if (!is_product(*node)) continue;
    const ov::element::Type type = node->get_output_element_type(0);
    if (!type.is_static() || !type.is_real()) continue;
    if (type.size() >= 4) return ov::element::f32;
    widest = type;
  }
  return widest.is_static() ? widest : ov::element::f32;
}

std::map<std::string, std::string> recorded_precision(const ov::Model& model) {
  std::map<std::string, std::string> recorded;
  for (const char* key : kRecorded) {
    if (!model.has_rt_info("runtime_options", key)) continue;
    auto value = model.get_rt_info<std::string>("runtime_options", key);
    // No precision at all would be the runtime's own choice.
    if (value != "dynamic" && value != "undefined") {
      recorded[key] = std::move(value);
    }
  }
  return recorded;
}

}  // namespace modelrun::openvino
