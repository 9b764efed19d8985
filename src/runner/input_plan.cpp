// SPDX-License-Identifier: Apache-2.0
#include "runner/input_plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "modelrun/error.h"
#include "runner/scalar_tensor.h"

namespace modelrun {
namespace {

// A leaf that is both read and written has an input of this prefix.
constexpr std::string_view kMutatedInput = "input.";

// The number of a port that is named by its position, `#3`.
std::optional<std::size_t> port_position(std::string_view name) {
  std::size_t position = 0;
  if (!name.starts_with('#')) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, position);
  if (error != std::errc() || stop != end) return std::nullopt;
  return position;
}

}  // namespace

InputPlan::InputPlan(const Signature& signature, const Metadata* metadata,
                     std::span<const IndexedRows> indexed_rows) {
  if (metadata != nullptr) in_spec_ = metadata->in_spec;
  if (in_spec_ != nullptr) {
    leaf_paths_.resize(in_spec_->leaf_count());
    in_spec_->for_each_leaf(
        "", [this](const std::string& path, const Structure& leaf) {
          leaf_paths_.at(leaf.leaf_index()) = path;
        });
  }
  add_slots(MODELRUN_INPUT, signature.inputs, indexed_rows);
  add_slots(MODELRUN_STATE, signature.states, indexed_rows);
  add_kwargs(metadata);
  if (metadata != nullptr) add_recorded_alike(*metadata);
  index_names();
}

void InputPlan::add_slots(modelrun_port_kind kind,
                          const std::vector<Port>& ports,
                          std::span<const IndexedRows> indexed_rows) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    InputSlot slot;
    slot.kind = kind;
    slot.port = i;
    slot.path = path_of(port);
    slot.dtype = port.dtype;
    slot.ranked = port.ranked;
    slot.dims = symbolic_dims(port, symbols_);
    for (const SymbolicDim& dim : slot.dims) {
      has_expressions_ |= !dim.constant() && !dim.symbol();
    }
    for (const IndexedRows& indexed : indexed_rows) {
      if (indexed.input == port.name) slot.rows = indexed.rows;
    }
    slots_.push_back(std::move(slot));
  }
}

std::string InputPlan::path_of(const Port& port) const {
  if (in_spec_ == nullptr) return port.name;
  if (const auto position = port_position(port.name)) {
    if (*position < leaf_paths_.size()) return leaf_paths_[*position];
    throw InvalidArgument(
        "the program has an input at position " + std::to_string(*position) +
        ", but export.json records " + std::to_string(leaf_paths_.size()) +
        " input leaves: program and manifest are not of one export");
  }
  std::vector<std::string> names = port.aliases;
  names.insert(names.begin(), port.name);
  for (std::string name : names) {
    if (in_spec_->find_path(name) != nullptr) return name;
    if (!name.starts_with(kMutatedInput)) continue;
    name.erase(0, kMutatedInput.size());
    if (in_spec_->find_path(name) != nullptr) return name;
  }
  return port.name;
}

void InputPlan::add_kwargs(const Metadata* metadata) {
  const auto plan = [this](const std::string& name) -> KwargPlan& {
    for (KwargPlan& known : kwargs_) {
      if (known.name == name) return known;
    }
    kwargs_.push_back({.name = name,
                       .spec = nullptr,
                       .slot = {},
                       .constant = {},
                       .is_mapping = false});
    return kwargs_.back();
  };
  if (in_spec_ != nullptr) {
    for (std::size_t i = 0; i < in_spec_->size(); ++i) {
      plan(in_spec_->step(i)).spec = &in_spec_->child(i);
    }
  }
  if (metadata != nullptr) {
    for (const KwargSpec& spec : metadata->kwargs) {
      plan(spec.name).is_mapping = !spec.leaves.empty();
    }
    for (const auto& [name, value] : metadata->in_constants) {
      plan(name).constant = value;
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::string& path = slots_[i].path;
    const Structure* leaf =
        in_spec_ != nullptr ? in_spec_->find_path(path) : nullptr;
    const bool nested = leaf != nullptr && in_spec_->find(path) == nullptr;
    if (nested) continue;
    KwargPlan& kwarg = plan(path);
    kwarg.slot = i;
    if (kwarg.constant && slots_[i].ranked && slots_[i].dims.empty()) {
      slots_[i].constant =
          scalar_tensor(*kwarg.constant, slots_[i].dtype, path);
    }
  }
}

void InputPlan::add_recorded_alike(const Metadata& metadata) {
  std::map<std::vector<std::int64_t>, RecordedAlike> groups;
  for (const KwargSpec& kwarg : metadata.kwargs) {
    if (!kwarg.tensor || kwarg.tensor->shape.empty()) continue;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].path != kwarg.name) continue;
      if (slots_[i].ranked && !slots_[i].dims.empty()) {
        groups[kwarg.tensor->shape].push_back(i);
      }
    }
  }
  for (auto& [shape, group] : groups) {
    if (group.size() > 1) recorded_alike_.push_back(std::move(group));
  }
}

void InputPlan::index_names() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_by_path_.push_back({slots_[i].path, i});
  }
  for (std::size_t i = 0; i < kwargs_.size(); ++i) {
    kwargs_by_name_.push_back({kwargs_[i].name, i});
  }
  const auto by_name = [](const Named& a, const Named& b) {
    return a.name < b.name;
  };
  std::sort(slots_by_path_.begin(), slots_by_path_.end(), by_name);
  std::sort(kwargs_by_name_.begin(), kwargs_by_name_.end(), by_name);
}

std::optional<std::size_t> InputPlan::find(const std::vector<Named>& sorted,
                                           std::string_view name) noexcept {
  const auto found = std::lower_bound(
      sorted.begin(), sorted.end(), name,
      [](const Named& a, std::string_view b) { return a.name < b; });
  if (found == sorted.end() || found->name != name) return std::nullopt;
  return found->index;
}

const KwargPlan* InputPlan::find_kwarg(std::string_view name) const noexcept {
  const auto index = find(kwargs_by_name_, name);
  return index ? &kwargs_[*index] : nullptr;
}

std::optional<std::size_t> InputPlan::find_slot(
    std::string_view path) const noexcept {
  return find(slots_by_path_, path);
}

bool InputPlan::has_path(std::string_view path) const noexcept {
  return in_spec_ != nullptr && in_spec_->find_path(path) != nullptr;
}

std::vector<std::string> InputPlan::kwarg_names() const {
  std::vector<std::string> names;
  for (const KwargPlan& kwarg : kwargs_) names.push_back(kwarg.name);
  return names;
}

std::string to_string(const InputSlot& slot) {
  std::string text(name(slot.dtype));
  if (!slot.ranked) return text + " of any shape";
  text += "[";
  for (std::size_t axis = 0; axis < slot.dims.size(); ++axis) {
    const std::string& dim = slot.dims[axis].text();
    if (axis > 0) text += ", ";
    text += dim.empty() ? "?" : dim;
  }
  return text + "]";
}

std::vector<SymbolicDim> symbolic_dims(const Port& port, SymbolTable& symbols) {
  std::vector<SymbolicDim> dims;
  for (std::size_t axis = 0; axis < port.dims.size(); ++axis) {
    dims.push_back(port.dims[axis] >= 0
                       ? SymbolicDim::constant(port.dims[axis])
                       : SymbolicDim::parse(port.symbols[axis], symbols));
  }
  return dims;
}

}  // namespace modelrun
