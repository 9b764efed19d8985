// SPDX-License-Identifier: Apache-2.0
#include "model/warmup.h"

#include <string>
#include <vector>

namespace modelrun::detail {
namespace {

// The shape that the manifest recorded for an input; null when it did not.
const std::vector<std::int64_t>* recorded_shape(const Component& component,
                                                const std::string& path) {
  if (!component.metadata) return nullptr;
  for (const KwargSpec& kwarg : component.metadata->kwargs) {
    if (kwarg.tensor && kwarg.name == path) return &kwarg.tensor->shape;
    for (const auto& [leaf, spec] : kwarg.leaves) {
      if (kwarg.name + "." + leaf == path) return &spec.shape;
    }
  }
  return nullptr;
}

// Sets the symbols that recorded shapes tell, then gives every other one the
// size 1, so that all inputs agree on them.
std::vector<std::int64_t> symbol_values(const InputPlan& plan,
                                        const Component& component) {
  std::vector<std::int64_t> values(plan.symbols().size(),
                                   SymbolicDim::kUnbound);
  for (const InputSlot& slot : plan.slots()) {
    const auto* shape = recorded_shape(component, slot.path);
    if (shape == nullptr || shape->size() != slot.dims.size()) continue;
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      const auto solved = slot.dims[axis].solve((*shape)[axis], values);
      if (solved) values[solved->symbol] = solved->value;
    }
  }
  for (std::int64_t& value : values) {
    if (value == SymbolicDim::kUnbound) value = 1;
  }
  return values;
}

}  // namespace

void warm_up(const ModelRunner& runner, const Component& component) {
  const InputPlan& plan = runner.inputs();
  const auto values = symbol_values(plan, component);
  std::vector<Kwarg> kwargs;
  for (const InputSlot& slot : plan.slots()) {
    if (slot.kind == MODELRUN_STATE || slot.constant.defined()) continue;
    Shape shape = Shape::of_rank(slot.dims.size());
    for (std::size_t axis = 0; axis < slot.dims.size(); ++axis) {
      shape[axis] = slot.dims[axis].evaluate(values).value_or(1);
    }
    kwargs.push_back({slot.path, Tensor::zeros(slot.dtype, shape)});
  }
  (void)runner(kwargs, {});
}

}  // namespace modelrun::detail
