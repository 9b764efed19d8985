// SPDX-License-Identifier: Apache-2.0
#include "runner/output_plan.h"

#include <algorithm>
#include <utility>

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
  const std::size_t count = slot_count(*structure_);
  if (count > signature.outputs.size()) {
    throw InvalidArgument(
        "the program has " + std::to_string(signature.outputs.size()) +
        " outputs, but export.json records " + std::to_string(count) +
        " output tensors: program and manifest are not of one export");
  }
  // The user's outputs come last: earlier ones are mutated inputs.
  const std::size_t first = signature.outputs.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    const Port& port = signature.outputs[first + i];
    slots_.push_back({.port = first + i,
                      .name = port.name,
                      .ranked = port.ranked,
                      .dims = symbolic_dims(port, symbols)});
  }
}

bool OutputPlan::has_shape(std::size_t slot,
                           std::span<const std::int64_t> symbol_values,
                           const Shape& shape) const {
  const Slot& output = slots_[slot];
  if (!output.ranked || output.dims.size() != shape.rank()) return false;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const auto size = output.dims[axis].evaluate(symbol_values);
    if (!size || *size != shape[axis]) return false;
  }
  return true;
}

}  // namespace modelrun
