// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/node_values.h"

#include <string>
#include <utility>

#include "backends/torch/argument.h"
#include "modelrun/error.h"

namespace modelrun::torch {

using Values = std::vector<c10::IValue>;

void push(const Argument& argument, const Values& values, c10::Stack& stack) {
  switch (argument.kind) {
    case Argument::Kind::plain:
      stack.push_back(value_of(argument.element, values));
      return;
    case Argument::Kind::tensor: {
      const c10::IValue& value = value_of(argument.element, values);
      if (value.isTensor()) {
        stack.push_back(value);
      } else {
        stack.push_back(number_as_tensor(value));
      }
      return;
    }
    case Argument::Kind::floating: {
      const c10::IValue& value = value_of(argument.element, values);
      if (value.isInt()) {
        stack.emplace_back(static_cast<double>(value.toInt()));
      } else {
        stack.push_back(value);
      }
      return;
    }
    default:
      stack.push_back(make_list(argument, values));
  }
}

void append_operands(const Argument& argument, const Values& values,
                     c10::SmallVectorImpl<c10::IValue>& operands) {
  if (argument.kind != Argument::Kind::operands) {
    operands.push_back(value_of(argument.element, values));
    return;
  }
  for (const Element& element : argument.elements) {
    operands.push_back(value_of(element, values));
  }
}

Values operands(const Node& node, std::size_t first, const Values& values) {
  c10::SmallVector<c10::IValue, 8> all;
  for (std::size_t i = first; i < node.arguments.size(); ++i) {
    append_operands(node.arguments[i], values, all);
  }
  return Values(all.begin(), all.end());
}

Values operands_of(const Node& node, std::size_t index, const Values& values) {
  if (index >= node.arguments.size()) return {};
  c10::SmallVector<c10::IValue, 8> all;
  append_operands(node.arguments[index], values, all);
  return Values(all.begin(), all.end());
}

void store(const Node& node, Values& returned, Values& values) {
  if (node.results.size() > returned.size()) {
    throw InvalidArgument("it returned " + std::to_string(returned.size()) +
                          " values, expected " +
                          std::to_string(node.results.size()));
  }
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const Result& result = node.results[i];
    if (!result.is_list) {
      if (result.slot == kNoSlot) continue;
      values[static_cast<std::size_t>(result.slot)] = std::move(returned[i]);
      continue;
    }
    const auto list = returned[i].toListRef();
    if (list.size() != result.slots.size()) {
      throw InvalidArgument(
          "it returned a list of " + std::to_string(list.size()) +
          ", the export's had " + std::to_string(result.slots.size()));
    }
    for (std::size_t item = 0; item < list.size(); ++item) {
      if (result.slots[item] == kNoSlot) continue;
      values[static_cast<std::size_t>(result.slots[item])] = list[item];
    }
  }
}

}  // namespace modelrun::torch
