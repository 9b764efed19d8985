// SPDX-License-Identifier: Apache-2.0
#include "runner/input_binder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "core/nearest.h"
#include "modelrun/error.h"
#include "runner/integer_conversion.h"

namespace modelrun {
namespace {

std::string describe(const Tensor& tensor) {
  return tensor.defined()
             ? std::string(name(tensor.dtype())) + to_string(tensor.shape())
             : "an undefined tensor";
}

// A number's value, for Python's `True == 1 == 1.0`.
std::optional<double> number(const Scalar& scalar) {
  if (const auto* b = std::get_if<bool>(&scalar)) return *b ? 1.0 : 0.0;
  if (const auto* i = std::get_if<std::int64_t>(&scalar)) {
    return static_cast<double>(*i);
  }
  if (const auto* d = std::get_if<double>(&scalar)) return *d;
  return std::nullopt;
}

bool same_constant(const Scalar& a, const Scalar& b) {
  const auto x = number(a);
  const auto y = number(b);
  return x && y ? *x == *y : a == b;
}

bool is_aligned(const Tensor& tensor) {
  const auto width = static_cast<std::uintptr_t>(bits(tensor.dtype()) + 7) / 8;
  return reinterpret_cast<std::uintptr_t>(tensor.raw_data()) % width == 0;
}

template <typename T>
void check_rows(const Tensor& tensor, const InputSlot& slot) {
  for (const T value : tensor.data<const T>()) {
    if (value >= 0 && value < *slot.rows) continue;
    throw InvalidArgument("input '" + slot.path + "' holds " +
                          std::to_string(value) +
                          ", which is not a row of the embedding that it "
                          "indexes: expected 0 to " +
                          std::to_string(*slot.rows - 1));
  }
}

}  // namespace

InputBinder::InputBinder(const InputPlan& plan, Device device,
                         bool check_recorded_shapes)
    : plan_(plan),
      device_(device),
      shape_check_(plan, check_recorded_shapes),
      inputs_(plan.slots().size(), nullptr),
      converted_(plan.slots().size()) {}

std::span<const Tensor* const> InputBinder::bind(Kwargs kwargs) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& constant = plan_.slots()[i].constant;
    inputs_[i] = constant.defined() ? &constant : nullptr;
  }
  dropped_.clear();
  for (const Kwarg& kwarg : kwargs) bind_kwarg(kwarg);
  check_complete(kwargs);
  shape_check_(inputs_);
  check_indices();
  return inputs_;
}

void InputBinder::bind_kwarg(const Kwarg& kwarg) {
  const KwargPlan* plan = plan_.find_kwarg(kwarg.name);
  if (plan == nullptr) {
    const auto slot = plan_.find_slot(kwarg.name);
    if (slot && kwarg.value.is_tensor()) {
      set(*slot, kwarg.value.tensor());
    } else if (!kwarg.value.is_none() && !plan_.has_path(kwarg.name)) {
      dropped_.push_back(kwarg.name);
    }
  } else if (kwarg.value.is_scalar()) {
    bind_scalar(*plan, kwarg.value);
  } else if (plan->constant) {
    throw InvalidArgument("kwarg '" + plan->name + "' is " +
                          to_string(*plan->constant) +
                          " in this export: leave it out, or export the model "
                          "with another value");
  } else if (kwarg.value.is_nested()) {
    bind_nested(*plan, kwarg.value);
  } else if (plan->slot) {
    set(*plan->slot, kwarg.value.tensor());
  } else if (plan->spec != nullptr && !plan->spec->is_leaf()) {
    throw InvalidArgument("kwarg '" + plan->name + "' must be a " +
                          plan->spec->class_name() + " or a mapping, got " +
                          describe(kwarg.value.tensor()));
  }
}

void InputBinder::bind_scalar(const KwargPlan& plan, const Value& value) {
  if (plan.constant) {
    if (same_constant(*plan.constant, value.scalar())) return;
    throw InvalidArgument("kwarg '" + plan.name + "' is " +
                          to_string(*plan.constant) + " in this export, got " +
                          to_string(value.scalar()) +
                          ": leave it out, or export the model with that "
                          "value");
  }
  // As in the source model, None is what a kwarg is that is not given.
  if (value.is_none()) return;
  if (plan.slot) {
    throw InvalidArgument("input '" + plan.name + "' must be a tensor: " +
                          "expected " + to_string(plan_.slots()[*plan.slot]) +
                          ", got " + to_string(value.scalar()));
  }
  throw InvalidArgument("kwarg '" + plan.name +
                        "' must be a tensor or a nest of them, got " +
                        to_string(value.scalar()));
}

void InputBinder::bind_nested(const KwargPlan& plan, const Value& value) {
  if (plan.slot) {
    throw InvalidArgument("input '" + plan.name + "' must be a tensor: " +
                          "expected " + to_string(plan_.slots()[*plan.slot]) +
                          ", got a " + std::string(value.class_name()));
  }
  const LeafMap& map = leaf_maps_.of(plan_, plan, value);
  const std::span<const Tensor> tensors = value.slots();
  for (const LeafMap::Link& link : map.links) {
    set(link.slot, tensors[link.leaf]);
  }
  for (const std::string& path : map.dropped) dropped_.push_back(path);
}

void InputBinder::set(std::size_t slot, const Tensor& tensor) {
  const InputSlot& input = plan_.slots()[slot];
  if (inputs_[slot] != nullptr) {
    throw InvalidArgument("input '" + input.path + "' is given twice");
  }
  if (!tensor.defined()) {
    throw InvalidArgument("input '" + input.path + "' is undefined: expected " +
                          to_string(input));
  }
  if (!(tensor.device() == device_)) {
    throw InvalidArgument("input '" + input.path + "' is on " +
                          to_string(tensor.device()) +
                          ", but the program runs on " + to_string(device_) +
                          ": move it there first");
  }
  const bool as_is = tensor.dtype() == input.dtype && tensor.is_contiguous() &&
                     is_aligned(tensor);
  inputs_[slot] = as_is ? &tensor : convert(slot, tensor);
}

// The one table of conversions: a contiguous copy, and integers as other
// integers when every value is kept.
const Tensor* InputBinder::convert(std::size_t slot, const Tensor& tensor) {
  const InputSlot& input = plan_.slots()[slot];
  if (tensor.dtype() == input.dtype) {
    converted_[slot] = tensor.clone();
  } else if (is_integer(tensor.dtype()) && is_integer(input.dtype)) {
    // Checked early: a misshapen tensor should not be copied first.
    converted_[slot] = convert_integers(tensor, input.dtype, input.path);
  } else {
    throw InvalidArgument("input '" + input.path +
                          "' has the wrong dtype: expected " +
                          to_string(input) + ", got " + describe(tensor) +
                          ": convert it before the call");
  }
  return &converted_[slot];
}

void InputBinder::check_complete(Kwargs kwargs) const {
  std::string missing;
  const bool needs_states = has_states();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr) continue;
    const InputSlot& slot = plan_.slots()[i];
    if (slot.kind == MODELRUN_STATE && !needs_states) continue;
    if (!missing.empty()) missing += ", ";
    missing += "'" + slot.path + "' " + to_string(slot);
  }
  if (missing.empty()) return;
  std::string given;
  const std::vector<std::string> names = plan_.kwarg_names();
  for (const Kwarg& kwarg : kwargs) {
    if (!given.empty()) given += ", ";
    given += "'" + std::string(kwarg.name) + "'";
    if (plan_.find_kwarg(kwarg.name) != nullptr) continue;
    const std::string near = nearest_name(kwarg.name, names);
    if (!near.empty()) given += " (did you mean '" + near + "'?)";
  }
  throw InvalidArgument("missing inputs: expected " + missing + "; got " +
                        (given.empty() ? "nothing" : given));
}

// Whether the call starts from states that it gives: from all of them, then.
bool InputBinder::has_states() const noexcept {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const bool is_state = plan_.slots()[i].kind == MODELRUN_STATE;
    if (is_state && inputs_[i] != nullptr) return true;
  }
  return false;
}

void InputBinder::check_indices() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const InputSlot& slot = plan_.slots()[i];
    if (!slot.rows || inputs_[i] == nullptr) continue;
    if (!(device_ == Device{})) continue;
    if (slot.dtype == DType::int64) {
      check_rows<std::int64_t>(*inputs_[i], slot);
    } else if (slot.dtype == DType::int32) {
      check_rows<std::int32_t>(*inputs_[i], slot);
    }
  }
}

void InputBinder::release() noexcept {
  for (Tensor& tensor : converted_) {
    if (tensor.defined()) tensor = Tensor();
  }
}

}  // namespace modelrun
