// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/passed_inputs.h"

#include <algorithm>
#include <numeric>
#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/convert_like.hpp>
#include <openvino/op/identity.hpp>
#include <openvino/op/parameter.hpp>
#include <string>

#include "backends/openvino/runtime.h"

namespace modelrun::openvino {
namespace {

namespace op = ov::op;

/// Whether a node returns its first input as it is.
bool is_identity(const ov::Node& node) {
  const bool converts = ov::is_type<op::v0::Convert>(&node) ||
                        ov::is_type<op::v1::ConvertLike>(&node);
  if (!converts) return ov::is_type<op::v16::Identity>(&node);
  return node.get_input_element_type(0) == node.get_output_element_type(0);
}

const ov::Node* source_of(const ov::Node& result) {
  const ov::Node* node = result.get_input_node_ptr(0);
  while (is_identity(*node)) node = node->get_input_node_ptr(0);
  return node;
}

/// The parameter of this name; null when the output is no copy of it.
const ov::Node* named_parameter(const ov::Model& model, const std::string& name,
                                const ov::Node& result) {
  for (const auto& parameter : model.get_parameters()) {
    const bool is_same =
        parameter->get_friendly_name() == name &&
        parameter->get_element_type() == result.get_input_element_type(0) &&
        parameter->get_partial_shape() == result.get_input_partial_shape(0);
    if (is_same) return parameter.get();
  }
  return nullptr;
}

}  // namespace

PassedInputs::PassedInputs(ov::Model& model,
                           std::optional<std::size_t> beam_input)
    : beam_input_(beam_input),
      inputs_(model.get_results().size()),
      left_(inputs_.size()) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
  for (std::size_t i = left_.size(); i-- > 0;) {
    const auto input = input_of(model, source_of(*model.get_results()[i]));
    if (input) take(model, i, *input);
  }
  if (left_.size() != inputs_.size()) keep_one_result(model);
}

bool PassedInputs::take_found(ov::Model& model,
                              const ov::CompiledModel& compiled) {
  const auto running = compiled.get_runtime_model();
  const std::size_t before = left_.size();
  for (const auto& result : running->get_results()) {
    const ov::Node* source = result->get_input_node_ptr(0);
    if (!ov::is_type<op::v0::Parameter>(source)) continue;
    for (std::size_t i = left_.size(); i-- > 0;) {
      const auto& own = model.get_results()[i];
      if (own->get_friendly_name() != result->get_friendly_name()) continue;
      const auto input = input_of(
          model, named_parameter(model, source->get_friendly_name(), *own));
      if (input) take(model, i, *input);
    }
  }
  if (left_.size() == before) return false;
  keep_one_result(model);
  return true;
}

std::optional<std::size_t> PassedInputs::input_of(
    const ov::Model& model, const ov::Node* parameter) const {
  const auto& parameters = model.get_parameters();
  const auto found =
      std::find_if(parameters.begin(), parameters.end(),
                   [&](const auto& each) { return each.get() == parameter; });
  if (found == parameters.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(found - parameters.begin());
  if (index == beam_input_) return std::nullopt;
  return beam_input_ && index > *beam_input_ ? index - 1 : index;
}

void PassedInputs::take(ov::Model& model, std::size_t result,
                        std::size_t input) {
  inputs_[left_[result]] = input;
  model.remove_result(model.get_results()[result]);
  left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(result));
}

/// A model needs a result.
void PassedInputs::keep_one_result(ov::Model& model) {
  if (!model.get_results().empty()) return;
  const auto nothing = op::v0::Constant::create(ov::element::i32, {}, {0});
  model.add_results({std::make_shared<op::v0::Result>(nothing)});
}

}  // namespace modelrun::openvino
