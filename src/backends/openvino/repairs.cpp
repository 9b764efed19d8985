// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/repairs.h"

#include <array>
#include <cstdint>
#include <map>
#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/convert_like.hpp>
#include <openvino/op/reduce_logical_or.hpp>
#include <openvino/op/scaled_dot_product_attention.hpp>
#include <openvino/op/select.hpp>
#include <openvino/op/util/assign_base.hpp>
#include <openvino/op/util/gather_base.hpp>
#include <openvino/op/util/read_value_base.hpp>

namespace modelrun::openvino {
namespace {

namespace op = ov::op;
using Attention = op::v13::ScaledDotProductAttention;
using NodePtr = std::shared_ptr<ov::Node>;

/// A mask adds at least this much less than nothing; float16 has no more.
constexpr float kMasked = -65504.0F;

/// The one number that a constant holds.
bool is_constant(const ov::Output<ov::Node>& output, bool (*fits)(float)) {
  const auto constant =
      ov::as_type_ptr<op::v0::Constant>(output.get_node_shared_ptr());
  return constant && ov::shape_size(constant->get_shape()) == 1 &&
         constant->get_element_type().is_real() &&
         fits(constant->cast_vector<float>().front());
}

/// The booleans that an additive mask was made of; null for another mask.
std::shared_ptr<op::v1::Select> boolean_mask(const Attention& attention) {
  if (attention.get_input_size() < 4 || attention.get_causal()) return nullptr;
  auto select = ov::as_type_ptr<op::v1::Select>(
      attention.input_value(3).get_node_shared_ptr());
  const bool is_mask =
      select &&
      is_constant(select->input_value(1), [](float x) { return x == 0; }) &&
      is_constant(select->input_value(2), [](float x) { return x <= kMasked; });
  return is_mask ? select : nullptr;
}

std::size_t zero_rows_without_keys(ov::Model& model) {
  std::size_t places = 0;
  // The layers of a model share their mask.
  std::map<const ov::Node*, NodePtr> rows_with_keys;
  for (const NodePtr& node : model.get_ordered_ops()) {
    const auto attention = ov::as_type_ptr<Attention>(node);
    const auto mask = attention ? boolean_mask(*attention) : nullptr;
    if (!mask) continue;
    NodePtr& rows = rows_with_keys[mask.get()];
    if (!rows) {
      const auto last = op::v0::Constant::create(ov::element::i64, {1}, {-1});
      rows = std::make_shared<op::v1::ReduceLogicalOr>(mask->input_value(0),
                                                       last, true);
    }
    const auto targets = attention->output(0).get_target_inputs();
    const auto zero = op::v0::Constant::create(
        attention->get_output_element_type(0), {}, {0.0F});
    const auto result = std::make_shared<op::v1::Select>(rows, attention, zero);
    for (ov::Input<ov::Node> target : targets) {
      target.replace_source_output(result);
    }
    ++places;
  }
  return places;
}

/// `node`, or what it was before it was converted and its rows were picked.
const ov::Node* source_of(const ov::Node* node) {
  while (ov::is_type<op::v0::Convert>(node) ||
         ov::is_type<op::v1::ConvertLike>(node) ||
         ov::is_type<op::util::GatherBase>(node)) {
    node = node->get_input_node_ptr(0);
  }
  return node;
}

/// Whether `output`, perhaps converted and with its rows picked, is a key or a
/// value of attention.
bool is_attended(const ov::Output<ov::Node>& output) {
  for (const auto& consumer : output.get_target_inputs()) {
    ov::Node* node = consumer.get_node();
    const std::size_t index = consumer.get_index();
    if (ov::is_type<Attention>(node) && (index == 1 || index == 2)) return true;
    const bool is_passed = index == 0 && source_of(node) != node;
    if (is_passed && is_attended(node->output(0))) return true;
  }
  return false;
}

using Variable = std::shared_ptr<op::util::Variable>;

/// The variables that each run leaves as they are, and that attention reads.
std::vector<Variable> kept_variables(const ov::Model& model) {
  std::vector<Variable> kept;
  for (const auto& sink : model.get_sinks()) {
    const auto assign = ov::as_type_ptr<op::util::AssignBase>(sink);
    if (!assign) continue;
    const auto* read = ov::as_type<const op::util::ReadValueBase>(
        source_of(assign->get_input_node_ptr(0)));
    const bool is_kept =
        read != nullptr && read->get_variable() == assign->get_variable() &&
        is_attended(const_cast<op::util::ReadValueBase*>(read)->output(0));
    if (is_kept) kept.push_back(assign->get_variable());
  }
  return kept;
}

std::size_t free_kept_lengths(ov::Model& model) {
  std::vector<std::pair<Variable, op::util::VariableInfo>> changed;
  for (const Variable& variable : kept_variables(model)) {
    op::util::VariableInfo info = variable->get_info();
    ov::PartialShape& shape = info.data_shape;
    if (shape.rank().is_dynamic() || shape.size() < 3) continue;
    ov::Dimension& length = shape[shape.size() - 2];
    if (length.is_dynamic()) continue;
    changed.emplace_back(variable, variable->get_info());
    length = ov::Dimension::dynamic();
    variable->update(info);
  }
  try {
    model.validate_nodes_and_infer_types();
  } catch (const std::exception&) {
    for (const auto& [variable, info] : changed) variable->update(info);
    model.validate_nodes_and_infer_types();
    return 0;
  }
  return changed.size();
}

struct Repair {
  const char* name;
  std::size_t (*apply)(ov::Model&);
};

constexpr std::array kRepairs{
    Repair{"attention_without_keys", zero_rows_without_keys},
    Repair{"kept_state_length", free_kept_lengths},
};

}  // namespace

std::vector<std::string> repair_names() {
  std::vector<std::string> names;
  for (const Repair& each : kRepairs) names.emplace_back(each.name);
  return names;
}

std::vector<AppliedRepair> repair(ov::Model& model,
                                  const std::set<std::string>& skipped) {
  std::vector<AppliedRepair> applied;
  for (const Repair& each : kRepairs) {
    if (skipped.contains(each.name)) continue;
    const std::size_t places = each.apply(model);
    if (places != 0) applied.push_back({each.name, places});
  }
  return applied;
}

}  // namespace modelrun::openvino
