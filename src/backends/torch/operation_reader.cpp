// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/operation_reader.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "artifact/printable.h"
#include "backends/torch/fields.h"
#include "backends/torch/scalar_function.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

constexpr std::string_view kOperators = "torch.ops.";

using Inputs = std::unordered_map<std::string, const Json*>;

c10::OperatorHandle resolve(const std::string& target) {
  if (!target.starts_with(kOperators)) {
    throw Unsupported(
        "no such function is known: export the model with the torch release "
        "that this plugin was built for");
  }
  const std::string name = target.substr(kOperators.size());
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == name.npos || first == last) {
    throw InvalidArgument("expected torch.ops.<namespace>.<name>.<overload>");
  }
  const std::string qualified =
      name.substr(0, first) + "::" + name.substr(first + 1, last - first - 1);
  std::string overload = name.substr(last + 1);
  if (overload == "default") overload.clear();
  // It maps any file that the archive names.
  if (qualified == "aten::from_file") {
    throw Unsupported("a program may not open files");
  }
  const auto handle =
      c10::Dispatcher::singleton().findSchema({qualified, overload});
  if (!handle) {
    throw Unsupported(
        "torch has no such operator: a custom one's library must be loaded "
        "before, in Python by importing it");
  }
  return *handle;
}

Inputs by_name(const Json::array_t& inputs) {
  Inputs named;
  for (const Json& input : inputs) {
    if (!named.emplace(text_of(input, "name"), &member(input, "arg")).second) {
      throw InvalidArgument("argument " + printable(text_of(input, "name")) +
                            " is given twice");
    }
  }
  return named;
}

void add_arguments(Node& node, Inputs inputs, const Slots& slots,
                   c10::Device device) {
  const auto& parameters = node.operation->schema().arguments();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const c10::Argument& parameter = parameters[i];
    if (parameter.alias_info() != nullptr &&
        parameter.alias_info()->isWrite()) {
      node.written.push_back(i);
    }
    const auto found = inputs.find(parameter.name());
    try {
      if (found != inputs.end()) {
        node.arguments.push_back(
            read_argument(*found->second, &parameter, slots, device));
        inputs.erase(found);
        continue;
      }
      if (!parameter.default_value()) {
        throw InvalidArgument("it is not given and has no default");
      }
      node.arguments.push_back(
          {.kind = Argument::Kind::plain,
           .element = {kNoSlot, *parameter.default_value()},
           .elements = {}});
    } catch (const InvalidArgument& error) {
      throw InvalidArgument("argument '" + parameter.name() +
                            "': " + error.what());
    }
  }
  if (!inputs.empty()) {
    throw InvalidArgument("argument " + printable(inputs.begin()->first) +
                          " is none of " +
                          toString(node.operation->operator_name()));
  }
}

Node first_argument_of(Node node) {
  Node made;
  made.kind = Node::Kind::scalar;
  made.function = first_operand;
  made.arguments.push_back(std::move(node.arguments.front()));
  return made;
}

/// The constant that an argument is; none for a value of the run.
const c10::IValue* constant_of(const Node& node, std::string_view parameter) {
  const auto& parameters = node.operation->schema().arguments();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Argument& argument = node.arguments[i];
    if (parameters[i].name() != parameter) continue;
    if (argument.kind != Argument::Kind::plain) return nullptr;
    return argument.element.slot == kNoSlot ? &argument.element.constant
                                            : nullptr;
  }
  return nullptr;
}

bool is_constant(const Node& node, std::string_view parameter,
                 const c10::IValue& wanted) {
  const c10::IValue* value = constant_of(node, parameter);
  if (value == nullptr) return false;
  if (wanted.isNone()) return value->isNone();
  return value->isBool() && value->toBool() == wanted.toBool();
}

}  // namespace

Node read_operation(const std::string& target, const Json::array_t& inputs,
                    const Slots& slots, c10::Device device) {
  Node node;
  node.operation = resolve(target);
  add_arguments(node, by_name(inputs), slots, device);
  const std::string& name = node.operation->schema().name();
  // Types follow from those of the inputs, which are checked when bound.
  if (name == "aten::_assert_tensor_metadata" &&
      is_constant(node, "size", {}) && is_constant(node, "stride", {})) {
    Node nothing;
    nothing.kind = Node::Kind::scalar;
    return nothing;
  }
  if (name == "aten::detach_" || name == "aten::detach" ||
      (name == "aten::dropout" && is_constant(node, "train", false))) {
    return first_argument_of(std::move(node));
  }
  return node;
}

}  // namespace modelrun::torch
