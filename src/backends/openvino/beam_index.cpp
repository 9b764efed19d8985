// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/beam_index.h"

#include <algorithm>
#include <openvino/op/constant.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/op/util/gather_base.hpp>
#include <openvino/op/util/read_value_base.hpp>
#include <openvino/op/util/shape_of_base.hpp>
#include <set>

namespace modelrun::openvino {
namespace {

namespace op = ov::op;

/// The single integer that a constant holds.
std::optional<std::int64_t> constant_of(const ov::Output<ov::Node>& output) {
  const auto constant =
      ov::as_type_ptr<op::v0::Constant>(output.get_node_shared_ptr());
  if (!constant || ov::shape_size(constant->get_shape()) != 1 ||
      !constant->get_element_type().is_integral_number()) {
    return std::nullopt;
  }
  return constant->cast_vector<std::int64_t>().front();
}

/// The axis that `gather` picks along, counted from the front.
std::optional<std::size_t> gather_axis(const op::util::GatherBase& gather) {
  auto axis = constant_of(gather.input_value(2));
  const auto rank = gather.get_input_partial_shape(0).rank();
  if (axis && *axis < 0 && rank.is_static()) *axis += rank.get_length();
  if (!axis || *axis < 0) return std::nullopt;
  return static_cast<std::size_t>(*axis);
}

/// `shape_of(parameter)[axis]`, as the first cache of a sequence is made with.
struct SizeOfInput {
  const ov::Node* parameter;
  std::size_t axis;
};

std::optional<SizeOfInput> size_of_input(const ov::Node& node) {
  const auto* gather = ov::as_type<const op::util::GatherBase>(&node);
  if (gather == nullptr) return std::nullopt;
  const auto* shape =
      ov::as_type<const op::util::ShapeOfBase>(gather->get_input_node_ptr(0));
  const auto axis = constant_of(gather->input_value(1));
  if (shape == nullptr || !axis || *axis < 0) return std::nullopt;
  const ov::Node* parameter = shape->get_input_node_ptr(0);
  if (!ov::is_type<op::v0::Parameter>(parameter)) return std::nullopt;
  return SizeOfInput{parameter, static_cast<std::size_t>(*axis)};
}

/// The first size of an input that `node` is computed from.
std::optional<SizeOfInput> find_size(const ov::Node& node,
                                     std::set<const ov::Node*>& seen) {
  if (!seen.insert(&node).second) return std::nullopt;
  if (auto found = size_of_input(node)) return found;
  for (std::size_t i = 0; i < node.get_input_size(); ++i) {
    if (auto found = find_size(*node.get_input_node_ptr(i), seen)) return found;
  }
  return std::nullopt;
}

bool is_named_beam_idx(const ov::Output<const ov::Node>& input) {
  return input.get_names().contains("beam_idx");
}

/// Reads off one variable which axis its rows are on, and where their number
/// comes from.
void read_variable(const ov::Model& model, const ov::Node& beam_idx,
                   const op::util::ReadValueBase& variable, BeamIndex& index) {
  for (const auto& consumer : variable.output(0).get_target_inputs()) {
    const auto* gather =
        ov::as_type<const op::util::GatherBase>(consumer.get_node());
    if (gather == nullptr || gather->get_input_node_ptr(1) != &beam_idx) {
      continue;
    }
    const auto axis = gather_axis(*gather);
    if (!axis) continue;
    index.batch_axes[variable.get_variable_id()] = *axis;
    const auto shape = variable.get_output_partial_shape(0);
    if (shape.rank().is_static() && *axis < shape.size() &&
        shape[*axis].is_static()) {
      index.fixed_batch = shape[*axis].get_length();
    }
  }
  std::set<const ov::Node*> seen;
  const auto size = find_size(variable, seen);
  if (!size || size->parameter == &beam_idx) return;
  const auto inputs = model.inputs();
  const auto found = std::find_if(
      inputs.begin(), inputs.end(),
      [&](const auto& each) { return each.get_node() == size->parameter; });
  if (found == inputs.end()) return;
  index.batch_input = static_cast<std::size_t>(found - inputs.begin());
  index.batch_axis = size->axis;
}

}  // namespace

std::optional<BeamIndex> find_beam_index(const ov::Model& model) {
  if (model.get_variables().empty()) return std::nullopt;
  const auto inputs = model.inputs();
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), is_named_beam_idx);
  if (found == inputs.end()) return std::nullopt;
  BeamIndex index;
  index.input = static_cast<std::size_t>(found - inputs.begin());
  index.type = found->get_element_type();
  for (const auto& node : model.get_ops()) {
    const auto* variable =
        ov::as_type<const op::util::ReadValueBase>(node.get());
    if (variable != nullptr) {
      read_variable(model, *found->get_node(), *variable, index);
    }
  }
  if (index.batch_input > index.input) --index.batch_input;
  return index;
}

}  // namespace modelrun::openvino
