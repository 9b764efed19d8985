// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/signature.h"

#include <algorithm>
#include <openvino/op/util/variable.hpp>
#include <string_view>
#include <utility>

#include "backends/common/tensor_view.h"
#include "backends/openvino/element_type.h"

namespace modelrun::openvino {
namespace {

/// Every name of a port, in an order that does not change; a node's own name
/// when the port has none.
std::vector<std::string> names_of(const ov::Output<const ov::Node>& port) {
  const auto& names = port.get_names();
  std::vector<std::string> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) sorted.push_back(port.get_node()->get_friendly_name());
  return sorted;
}

/// As `"float32[?, 2, ?, 8]"`.
std::string shown_port(const modelrun_port& port) {
  if (port.rank < 0) {
    return plugin::shown_tensor(port.dtype, nullptr, 0) + " of any shape";
  }
  std::string text = plugin::shown_tensor(port.dtype, port.dims,
                                          static_cast<std::size_t>(port.rank));
  for (auto at = text.find("-1"); at != text.npos; at = text.find("-1")) {
    text.replace(at, 2, "?");
  }
  return text;
}

}  // namespace

std::string state_path(const std::string& variable_id) {
  constexpr std::string_view kInput = "input.";
  constexpr std::string_view kOutput = "output.";
  constexpr std::size_t kPrefixes = kInput.size() + kOutput.size();
  const std::string_view id = variable_id;
  if (id.size() <= kPrefixes || (id.size() - kPrefixes) % 2 != 0) {
    return variable_id;
  }
  const std::size_t size = (id.size() - kPrefixes) / 2;
  const std::string_view first = id.substr(kInput.size(), size);
  const std::string_view second = id.substr(kInput.size() + size);
  const bool is_pair = id.starts_with(kInput) && second.starts_with(kOutput) &&
                       second.substr(kOutput.size()) == first;
  return is_pair ? std::string(first) : variable_id;
}

void check_fits(const modelrun_port& port, const DLTensor& tensor) {
  bool fits = plugin::is_same_dtype(port.dtype, tensor.dtype) &&
              (port.rank < 0 || port.rank == tensor.ndim);
  for (std::int32_t axis = 0; fits && axis < port.rank; ++axis) {
    fits = port.dims[axis] < 0 || port.dims[axis] == tensor.shape[axis];
  }
  if (!fits) {
    plugin::refuse_tensor(tensor, port.name, "expected " + shown_port(port));
  }
}

Signature::Signature(const ov::Model& model,
                     std::optional<std::size_t> beam_input) {
  const auto inputs = model.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i == beam_input) continue;
    inputs_.push_back(add_port(names_of(inputs[i]),
                               inputs[i].get_element_type(),
                               inputs[i].get_partial_shape(), "input"));
  }
  for (const auto& output : model.outputs()) {
    outputs_.push_back(add_port(names_of(output), output.get_element_type(),
                                output.get_partial_shape(), "output"));
  }
  add_states(model);
  view_.struct_size = sizeof(modelrun_signature);
  view_.port_size = sizeof(modelrun_port);
  view_.input_count = inputs_.size();
  view_.inputs = inputs_.data();
  view_.output_count = outputs_.size();
  view_.outputs = outputs_.data();
  view_.state_count = states_.size();
  view_.states = states_.data();
}

void Signature::add_states(const ov::Model& model) {
  std::vector<ov::op::util::VariableInfo> variables;
  for (const auto& variable : model.get_variables()) {
    variables.push_back(variable->get_info());
  }
  // A model lists its variables in an order that changes with each reading.
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) {
              return a.variable_id < b.variable_id;
            });
  for (const auto& info : variables) {
    states_.push_back(add_port({state_path(info.variable_id)}, info.data_type,
                               info.data_shape, "state"));
    variable_ids_.push_back(info.variable_id);
  }
}

modelrun_port Signature::add_port(std::vector<std::string> names,
                                  const ov::element::Type& type,
                                  const ov::PartialShape& shape,
                                  const char* kind) {
  const auto dtype = to_dlpack(type);
  if (!dtype) {
    throw Failure(MODELRUN_UNSUPPORTED,
                  std::string(kind) + " '" + names.front() +
                      "' is a tensor of OpenVINO type " + type.to_string() +
                      "; only tensors of bool, integers, float16, bfloat16, "
                      "float32 and float64 can be passed: export the model "
                      "without it");
  }
  Storage& storage = storage_.emplace_back();
  storage.names = std::move(names);
  for (std::size_t i = 1; i < storage.names.size(); ++i) {
    storage.aliases.push_back(storage.names[i].c_str());
  }
  const bool ranked = shape.rank().is_static();
  if (ranked) {
    for (const ov::Dimension& dim : shape) {
      storage.dims.push_back(dim.is_static() ? dim.get_length() : -1);
    }
  }
  modelrun_port port{};
  port.name = storage.names.front().c_str();
  port.aliases = storage.aliases.data();
  port.alias_count = storage.aliases.size();
  port.dtype = *dtype;
  port.rank = ranked ? static_cast<std::int32_t>(storage.dims.size()) : -1;
  port.dims = storage.dims.data();
  return port;
}

}  // namespace modelrun::openvino
