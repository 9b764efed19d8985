// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/interpreter.h"

#include <utility>

#include "backends/torch/argument.h"
#include "backends/torch/node_values.h"
#include "backends/torch/scalar_function.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

std::string shown(const Node& node) {
  return "node '" + node.name + "' (" + node.target + "): ";
}

}  // namespace

void Interpreter::run(const Graph& graph, Values& values) {
  const Node* current = nullptr;
  try {
    run_nodes(graph, values, current);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(shown(*current) + error.what());
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    throw BackendError(shown(*current) + error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw BackendError(shown(*current) + error.what());
  }
}

void Interpreter::run_nodes(const Graph& graph, Values& values,
                            const Node*& current) {
  for (const Node& node : graph.nodes) {
    current = &node;
    if (state_.load(std::memory_order_relaxed) == RunState::cancelled) {
      throw BackendError("the run was cancelled");
    }
    run_node(node, values);
    for (const int slot : node.dead) {
      values[static_cast<std::size_t>(slot)] = c10::IValue();
    }
  }
}

void Interpreter::run_node(const Node& node, Values& values) {
  switch (node.kind) {
    case Node::Kind::operation:
      return run_operation(node, values);
    case Node::Kind::scalar:
      return run_scalar(node, values);
    case Node::Kind::cond:
      return run_cond(node, values);
    case Node::Kind::while_loop:
      return run_while_loop(node, values);
    case Node::Kind::scan:
      return run_scan(node, values);
    case Node::Kind::autocast:
      return run_autocast(node, values);
    case Node::Kind::inlined:
      return store(node, call(*node.graphs[0], operands(node, 0, values)),
                   values);
  }
}

void Interpreter::run_operation(const Node& node, Values& values) {
  stack_.clear();
  for (const Argument& argument : node.arguments) {
    push(argument, values, stack_);
  }
  for (const std::size_t index : node.written) {
    const c10::IValue& target = stack_[index];
    if (target.isTensor() && target.toTensor().defined() &&
        protected_.covers(target.toTensor().const_data_ptr())) {
      throw Unsupported(shown(node) +
                        "it would write to a weight or to an input of the "
                        "call through a view that modelrun did not foresee: "
                        "export the model with run_decompositions()");
    }
  }
  node.operation->callBoxed(stack_);
  store(node, stack_, values);
}

void Interpreter::run_scalar(const Node& node, Values& values) {
  c10::SmallVector<c10::IValue, 4> given;
  for (const Argument& argument : node.arguments) {
    append_operands(argument, values, given);
  }
  c10::IValue result = node.function(given);
  if (!node.results.empty() && node.results[0].slot != kNoSlot) {
    values[static_cast<std::size_t>(node.results[0].slot)] = std::move(result);
  }
}

Interpreter::Values Interpreter::call(const Graph& graph, Values inputs) {
  if (inputs.size() != graph.inputs.size()) {
    throw InvalidArgument("its graph takes " +
                          std::to_string(graph.inputs.size()) +
                          " operands, got " + std::to_string(inputs.size()));
  }
  Values values(graph.slot_count);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (graph.inputs[i] == kNoSlot) continue;
    values[static_cast<std::size_t>(graph.inputs[i])] = std::move(inputs[i]);
  }
  run(graph, values);
  Values outputs;
  for (const Element& output : graph.outputs) {
    outputs.push_back(value_of(output, values));
  }
  return outputs;
}

void Interpreter::run_cond(const Node& node, Values& values) {
  Values given = operands(node, 0, values);
  if (given.empty()) throw InvalidArgument("it has no condition");
  const bool taken = is_true(given.front());
  given.erase(given.begin());
  store(node, call(*node.graphs[taken ? 0 : 1], std::move(given)), values);
}

void Interpreter::run_while_loop(const Node& node, Values& values) {
  Values carried = operands_of(node, 0, values);
  const Values additional = operands_of(node, 1, values);
  const auto given = [&] {
    Values all = carried;
    all.insert(all.end(), additional.begin(), additional.end());
    return all;
  };
  while (true) {
    const Values condition = call(*node.graphs[0], given());
    if (condition.size() != 1) {
      throw InvalidArgument("its condition returns " +
                            std::to_string(condition.size()) +
                            " values, expected 1");
    }
    if (!is_true(condition[0])) break;
    carried = call(*node.graphs[1], given());
  }
  store(node, std::move(carried), values);
}

void Interpreter::run_scan(const Node& node, Values& values) {
  Values carried = operands_of(node, 0, values);
  const Values scanned = operands_of(node, 1, values);
  const Values additional = operands_of(node, 2, values);
  const std::size_t carry_count = carried.size();
  if (scanned.empty()) throw InvalidArgument("it scans nothing");
  const std::int64_t steps = scanned[0].toTensor().size(0);
  if (steps == 0) throw InvalidArgument("it scans an axis of size 0");
  std::vector<std::vector<at::Tensor>> collected;
  for (std::int64_t step = 0; step < steps; ++step) {
    Values given = std::move(carried);
    for (const c10::IValue& value : scanned) {
      given.emplace_back(value.toTensor().select(0, step));
    }
    given.insert(given.end(), additional.begin(), additional.end());
    Values returned = call(*node.graphs[0], std::move(given));
    if (returned.size() < carry_count) {
      throw InvalidArgument("its graph returns fewer values than it carries");
    }
    collected.resize(returned.size() - carry_count);
    for (std::size_t i = carry_count; i < returned.size(); ++i) {
      collected[i - carry_count].push_back(returned[i].toTensor());
    }
    returned.resize(carry_count);
    carried = std::move(returned);
  }
  for (const auto& tensors : collected) {
    carried.emplace_back(at::stack(tensors));
  }
  store(node, std::move(carried), values);
}

}  // namespace modelrun::torch
