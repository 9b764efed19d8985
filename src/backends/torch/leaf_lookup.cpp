// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/leaf_lookup.h"

#include <algorithm>
#include <utility>

#include "backends/torch/fields.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

const Json::array_t& children_of(const Json& node) {
  return list_of(node, "children_spec");
}

std::size_t count_leaves(const Json& node) {
  if (member(node, "type").is_null()) return 1;
  std::size_t count = 0;
  for (const Json& child : children_of(node)) count += count_leaves(child);
  return count;
}

/// The number of the child that a step leads to.
std::optional<std::size_t> child_index(const Json& node, const LeafStep& step) {
  const Json* context = optional_member(node, "context");
  if (context != nullptr && context->is_string()) {
    const Json keys = Json::parse(context->get<std::string>(), nullptr, false);
    const Json wanted = step.index ? Json(*step.index) : Json(step.key);
    if (keys.is_array()) {
      const auto found = std::find(keys.begin(), keys.end(), wanted);
      if (found != keys.end()) {
        return static_cast<std::size_t>(found - keys.begin());
      }
    }
  }
  if (!step.index || *step.index < 0) return std::nullopt;
  return static_cast<std::size_t>(*step.index);
}

}  // namespace

LeafLookup::LeafLookup(const std::string& in_spec,
                       std::vector<std::string> argument_names)
    : argument_names_(std::move(argument_names)) {
  const Json spec = parse_json(in_spec, "in_spec");
  const Json::array_t& versioned = json_array(spec, "in_spec");
  if (versioned.size() != 2 || children_of(versioned[1]).size() != 2) {
    throw InvalidArgument(
        "in_spec: expected a version and tuple(args, kwargs)");
  }
  args_ = children_of(versioned[1])[0];
  kwargs_ = children_of(versioned[1])[1];
}

std::optional<std::size_t> LeafLookup::find(
    const std::vector<LeafStep>& way) const {
  if (way.empty() || way[0].index) return std::nullopt;
  std::vector<LeafStep> steps = way;
  std::size_t leaf = 0;
  const Json* node = &kwargs_;
  const auto argument =
      std::find(argument_names_.begin(), argument_names_.end(), steps[0].key);
  const auto position =
      static_cast<std::size_t>(argument - argument_names_.begin());
  if (position < children_of(args_).size()) {
    node = &args_;
    steps[0] = {.key = {}, .index = static_cast<std::int64_t>(position)};
  } else {
    leaf = count_leaves(args_);
  }
  for (const LeafStep& step : steps) {
    const auto index = child_index(*node, step);
    const Json::array_t& children = children_of(*node);
    if (!index || *index >= children.size()) return std::nullopt;
    for (std::size_t i = 0; i < *index; ++i) leaf += count_leaves(children[i]);
    node = &children[*index];
  }
  if (!member(*node, "type").is_null()) return std::nullopt;
  return leaf;
}

}  // namespace modelrun::torch
