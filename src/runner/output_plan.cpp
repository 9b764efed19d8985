// SPDX-License-Identifier: Apache-2.0
#include "runner/output_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "artifact/json_text.h"
#include "core/map_leaves.h"
#include "modelrun/error.h"
#include "runner/input_plan.h"

namespace modelrun {
namespace {

std::shared_ptr<const Structure> dict_by_name(const Signature& signature) {
  std::vector<Structure::Entry> entries;
  for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
    entries.push_back({signature.outputs[i].name, Structure::leaf(i)});
  }
  return std::make_shared<const Structure>(Structure::dict(std::move(entries)));
}

// The port of a leaf, by any of its names, with or without the prefix that a
// leaf has which is both read and written.
std::optional<std::size_t> find_port(const std::vector<Port>& ports,
                                     const std::string& path) {
  const auto is_path = [&path](const std::string& name) {
    return name == path || name == "output." + path;
  };
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto& aliases = ports[i].aliases;
    if (is_path(ports[i].name) ||
        std::any_of(aliases.begin(), aliases.end(), is_path)) {
      return i;
    }
  }
  return std::nullopt;
}

// Whether an output is no tensor of the source model's: it recorded a number,
// or the program itself has one there.
bool is_number(const Structure& leaf, const Port& port) {
  return (leaf.is_number() || port.is_number) && port.ranked &&
         port.dims.empty();
}

std::size_t slot_count(const Structure& structure) {
  std::size_t count = 0;
  structure.for_each_leaf("", [&](const std::string&, const Structure& leaf) {
    count = std::max(count, leaf.leaf_index() + 1);
  });
  return count;
}

}  // namespace

OutputPlan::OutputPlan(const Signature& signature, const Metadata* metadata,
                       SymbolTable& symbols)
    : structure_(metadata != nullptr ? metadata->out_spec : nullptr) {
  if (structure_ == nullptr) structure_ = dict_by_name(signature);
  if (signature.states.empty()) {
    match_last(signature, symbols);
  } else {
    match_names(signature, symbols);
  }
}

void OutputPlan::match_last(const Signature& signature, SymbolTable& symbols) {
  const std::size_t count = slot_count(*structure_);
  if (count > signature.outputs.size()) {
    throw InvalidArgument(
        "the program has " + std::to_string(signature.outputs.size()) +
        " outputs, but export.json records " + std::to_string(count) +
        " output tensors: program and manifest are not of one export");
  }
  // The user's outputs come last: earlier ones are mutated inputs.
  const std::size_t first = signature.outputs.size() - count;
  Structure structure = map_leaves(*structure_, [&](const Structure& leaf) {
    const std::size_t index = first + leaf.leaf_index();
    const Port& port = signature.outputs[index];
    if (port.constant) {
      return Structure::constant(
          json_scalar(parse_json(*port.constant, port.name), port.name));
    }
    add_slot(MODELRUN_OUTPUT, index, port, symbols);
    const std::size_t slot = slots_.size() - 1;
    return is_number(leaf, port) ? Structure::number(slot)
                                 : Structure::leaf(slot);
  });
  structure_ = std::make_shared<const Structure>(std::move(structure));
}

void OutputPlan::match_names(const Signature& signature, SymbolTable& symbols) {
  std::vector<std::string> paths(slot_count(*structure_));
  structure_->for_each_leaf(
      "", [&](const std::string& path, const Structure& leaf) {
        paths[leaf.leaf_index()] = path;
      });
  for (const std::string& path : paths) {
    if (const auto output = find_port(signature.outputs, path)) {
      add_slot(MODELRUN_OUTPUT, *output, signature.outputs[*output], symbols);
    } else if (const auto state = find_port(signature.states, path)) {
      add_slot(MODELRUN_STATE, *state, signature.states[*state], symbols);
    } else {
      throw InvalidArgument(
          "export.json records an output '" + path +
          "', which the program neither returns nor keeps in its state: "
          "program and manifest are not of one export");
    }
  }
}

void OutputPlan::add_slot(modelrun_port_kind kind, std::size_t index,
                          const Port& port, SymbolTable& symbols) {
  slots_.push_back({.kind = kind,
                    .port = index,
                    .name = port.name,
                    .ranked = port.ranked,
                    .dims = symbolic_dims(port, symbols)});
}

bool OutputPlan::has_shape(std::size_t slot,
                           std::span<const std::int64_t> symbol_values,
                           const Shape& shape) const {
  const Slot& output = slots_[slot];
  if (output.kind != MODELRUN_OUTPUT) return false;
  if (!output.ranked || output.dims.size() != shape.rank()) return false;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const auto size = output.dims[axis].evaluate(symbol_values);
    if (!size || *size != shape[axis]) return false;
  }
  return true;
}

}  // namespace modelrun
