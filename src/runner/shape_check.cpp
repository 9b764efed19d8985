// SPDX-License-Identifier: Apache-2.0
#include "runner/shape_check.h"

#include <algorithm>
#include <string>

#include "modelrun/error.h"

namespace modelrun {
namespace {

std::string quoted(const InputSlot& slot) { return "'" + slot.path + "'"; }

}  // namespace

ShapeCheck::ShapeCheck(const InputPlan& plan, bool check_recorded_shapes)
    : plan_(plan),
      check_recorded_shapes_(check_recorded_shapes),
      values_(plan.symbols().size(), SymbolicDim::kUnbound),
      origins_(plan.symbols().size(), 0) {}

void ShapeCheck::operator()(std::span<const Tensor* const> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_checked(i, inputs)) check_fixed(i, inputs[i]->shape());
  }
  std::fill(values_.begin(), values_.end(), SymbolicDim::kUnbound);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_checked(i, inputs)) bind_symbols(i, inputs[i]->shape());
  }
  if (plan_.has_expressions()) check_expressions(inputs);
  if (check_recorded_shapes_) check_recorded(inputs);
}

bool ShapeCheck::is_checked(std::size_t slot,
                            std::span<const Tensor* const> inputs) const {
  return inputs[slot] != nullptr && plan_.slots()[slot].ranked;
}

void ShapeCheck::check_fixed(std::size_t slot, const Shape& shape) const {
  const InputSlot& input = plan_.slots()[slot];
  if (shape.rank() != input.dims.size()) {
    throw InvalidArgument("input " + quoted(input) +
                          " has the wrong rank: " + "expected " +
                          to_string(input) + ", got shape " + to_string(shape));
  }
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const auto fixed = input.dims[axis].constant();
    if (fixed && *fixed != shape[axis]) {
      throw InvalidArgument("input " + quoted(input) +
                            " has the wrong shape: expected " +
                            to_string(input) + ", got " + to_string(shape) +
                            " (axis " + std::to_string(axis) + " is fixed to " +
                            std::to_string(*fixed) + " in this export)");
    }
  }
}

void ShapeCheck::bind_symbols(std::size_t slot, const Shape& shape) {
  const InputSlot& input = plan_.slots()[slot];
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const auto symbol = input.dims[axis].symbol();
    if (!symbol) continue;
    std::int64_t& value = values_[*symbol];
    if (value == SymbolicDim::kUnbound) {
      value = shape[axis];
      origins_[*symbol] = slot;
    } else if (value != shape[axis]) {
      refuse(slot, shape, axis, value);
    }
  }
}

void ShapeCheck::check_expressions(std::span<const Tensor* const> inputs) {
  while (solve_one(inputs)) {
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_checked(i, inputs)) continue;
    const InputSlot& input = plan_.slots()[i];
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const auto expected = input.dims[axis].evaluate(values_);
      if (expected && *expected != inputs[i]->shape()[axis]) {
        refuse(i, inputs[i]->shape(), axis, *expected);
      }
    }
  }
}

// Sets one symbol that only an expression mentions; false when none is left.
bool ShapeCheck::solve_one(std::span<const Tensor* const> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_checked(i, inputs)) continue;
    const InputSlot& input = plan_.slots()[i];
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const auto solution =
          input.dims[axis].solve(inputs[i]->shape()[axis], values_);
      if (!solution) continue;
      values_[solution->symbol] = solution->value;
      origins_[solution->symbol] = i;
      return true;
    }
  }
  return false;
}

void ShapeCheck::check_recorded(std::span<const Tensor* const> inputs) const {
  for (const RecordedAlike& group : plan_.recorded_alike()) {
    const Shape& first = inputs[group[0]]->shape();
    for (const std::size_t slot : group) {
      if (inputs[slot]->shape() == first) continue;
      throw InvalidArgument(
          "inputs " + quoted(plan_.slots()[group[0]]) + " of shape " +
          to_string(first) + " and " + quoted(plan_.slots()[slot]) +
          " of shape " + to_string(inputs[slot]->shape()) +
          " must have the same shape: the model was traced with one shape for "
          "both (check_recorded_shapes = false turns this check off)");
    }
  }
}

void ShapeCheck::refuse(std::size_t slot, const Shape& shape, std::size_t axis,
                        std::int64_t expected) const {
  const InputSlot& input = plan_.slots()[slot];
  std::string message =
      "input " + quoted(input) + " has the wrong shape: expected " +
      to_string(input) + ", got " + to_string(shape) + " (axis " +
      std::to_string(axis) + " must be " + std::to_string(expected);
  const auto symbol = input.dims[axis].symbol();
  if (symbol && origins_[*symbol] != slot) {
    message += ", as in " + quoted(plan_.slots()[origins_[*symbol]]);
  }
  throw InvalidArgument(message + ")");
}

}  // namespace modelrun
