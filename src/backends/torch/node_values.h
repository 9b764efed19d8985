// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <vector>

#include "backends/torch/graph.h"

namespace modelrun::torch {

[[nodiscard]] inline const c10::IValue& value_of(
    const Element& element, const std::vector<c10::IValue>& values) {
  return element.slot == kNoSlot
             ? element.constant
             : values[static_cast<std::size_t>(element.slot)];
}

/// Pushes an argument as its parameter wants it.
void push(const Argument& argument, const std::vector<c10::IValue>& values,
          c10::Stack& stack);

/// An argument's value, or each value of its list.
void append_operands(const Argument& argument,
                     const std::vector<c10::IValue>& values,
                     c10::SmallVectorImpl<c10::IValue>& operands);

/// The operands of all arguments from `first` on, one after the other.
[[nodiscard]] std::vector<c10::IValue> operands(
    const Node& node, std::size_t first,
    const std::vector<c10::IValue>& values);

/// Those of one argument; none when there is no such argument.
[[nodiscard]] std::vector<c10::IValue> operands_of(
    const Node& node, std::size_t index,
    const std::vector<c10::IValue>& values);

/// Puts what a node returned into the slots of its results.
void store(const Node& node, std::vector<c10::IValue>& returned,
           std::vector<c10::IValue>& values);
inline void store(const Node& node, std::vector<c10::IValue>&& returned,
                  std::vector<c10::IValue>& values) {
  store(node, returned, values);
}

}  // namespace modelrun::torch
