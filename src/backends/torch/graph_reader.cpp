// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/graph_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "artifact/printable.h"
#include "backends/torch/fields.h"
#include "backends/torch/operation_reader.h"
#include "backends/torch/scalar_function.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

/// A control-flow operator, and how many graphs it takes.
struct HigherOrder {
  std::string_view name;
  Node::Kind kind;
  std::size_t graphs;
  /// Leading arguments that are settings, not operands of the graph.
  std::size_t settings;
};

constexpr std::array kHigherOrders{
    HigherOrder{"cond", Node::Kind::cond, 2, 0},
    HigherOrder{"while_loop", Node::Kind::while_loop, 2, 0},
    HigherOrder{"scan", Node::Kind::scan, 1, 0},
    HigherOrder{"wrap_with_set_grad_enabled", Node::Kind::inlined, 1, 1},
    HigherOrder{"wrap_with_autocast", Node::Kind::autocast, 1, 0},
    HigherOrder{"invoke_subgraph", Node::Kind::inlined, 1, 1},
};

class Reader {
 public:
  Reader(c10::Device device) : device_(device) {}

  ReadGraph read(const Json& json) {
    for (const Json& input : list_of(json, "inputs")) {
      graph_.inputs.push_back(read_input(input));
    }
    std::size_t index = 0;
    for (const Json& node : list_of(json, "nodes")) add_node(node, index++);
    for (const Json& output : list_of(json, "outputs")) {
      graph_.outputs.push_back(read_element(output, slots_, device_));
    }
    graph_.slot_count = slots_.size();
    free_dead_values();
    return {std::move(graph_), std::move(slots_)};
  }

 private:
  int read_input(const Json& input) {
    const auto [kind, value] = tagged(input, "input");
    if (kind == "as_tensor" || kind == "as_custom_obj") {
      return slots_.define(text_of(value, "name"));
    }
    if (kind.starts_with("as_sym_")) {
      const Json* name = optional_member(value, "as_name");
      if (name != nullptr) return slots_.define(json_string(*name, "as_name"));
    }
    return kNoSlot;
  }

  void add_node(const Json& json, std::size_t index) {
    std::string shown = "node ";
    shown.append(std::to_string(index));
    try {
      const std::string& target = text_of(json, "target");
      const Json* name = optional_member(json, "name");
      if (name != nullptr) {
        shown.append(" ").append(printable(json_string(*name, "name")));
      }
      shown.append(" (").append(printable(target)).append(")");
      Node node = read_node(json, target);
      if (node.function == nullptr && node.kind == Node::Kind::scalar) return;
      node.name = name != nullptr ? name->get<std::string>() : shown;
      node.target = target;
      graph_.nodes.push_back(std::move(node));
    } catch (const Unsupported& error) {
      throw Unsupported(shown + ": " + error.what());
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(shown + ": " + error.what());
    } catch (const c10::Error& error) {
      throw Unsupported(shown + ": " + error.what_without_backtrace());
    }
  }

  Node read_node(const Json& json, const std::string& target) {
    const Json::array_t& inputs = list_of(json, "inputs");
    Node node;
    if (target.starts_with(kHigherOrder)) {
      node = read_higher_order(target.substr(kHigherOrder.size()), inputs);
    } else if (const ScalarFunction function = find_scalar_function(target)) {
      node.kind = Node::Kind::scalar;
      node.function = function;
      for (const Json& input : inputs) {
        node.arguments.push_back(
            read_argument(member(input, "arg"), nullptr, slots_, device_));
      }
    } else {
      node = read_operation(target, inputs, slots_, device_);
    }
    for (const Json& output : list_of(json, "outputs")) {
      node.results.push_back(read_result(output));
    }
    check_results(node);
    return node;
  }

  Node read_higher_order(std::string_view name, const Json::array_t& inputs) {
    const auto* const found = std::find_if(
        kHigherOrders.begin(), kHigherOrders.end(),
        [&](const HigherOrder& entry) { return entry.name == name; });
    if (found == kHigherOrders.end()) {
      std::string known;
      for (const HigherOrder& entry : kHigherOrders) {
        known.append(known.empty() ? "" : ", ").append(entry.name);
      }
      throw Unsupported(
          "this higher-order operator cannot be run outside of Python; those "
          "that can are: " +
          known);
    }
    Node node;
    node.kind = found->kind;
    std::size_t settings = 0;
    for (const Json& input : inputs) {
      const Json& argument = member(input, "arg");
      const auto [kind, value] = tagged(argument, "argument");
      if (kind == "as_graph") {
        node.graphs.push_back(std::make_shared<const Graph>(
            read_graph(member(value, "graph"), device_).graph));
        continue;
      }
      if (settings++ < found->settings) continue;
      node.arguments.push_back(
          read_argument(argument, nullptr, slots_, device_));
    }
    if (node.graphs.size() != found->graphs) {
      throw InvalidArgument("expected " + std::to_string(found->graphs) +
                            " graphs, got " +
                            std::to_string(node.graphs.size()));
    }
    return node;
  }

  Result read_result(const Json& output) {
    const auto [kind, value] = tagged(output, "output");
    Result result;
    if (kind == "as_tensor") {
      result.slot = slots_.define(text_of(value, "name"));
    } else if (kind == "as_sym_int" || kind == "as_sym_float" ||
               kind == "as_sym_bool") {
      result.slot = slots_.define(text_of(value, "as_name"));
    } else if (kind == "as_tensors") {
      result.is_list = true;
      for (const Json& entry : json_array(value, kind)) {
        result.slots.push_back(slots_.define(text_of(entry, "name")));
      }
    } else if (kind == "as_optional_tensors") {
      result.is_list = true;
      for (const Json& entry : json_array(value, kind)) {
        const auto [inner, held] = tagged(entry, "output");
        result.slots.push_back(inner == "as_tensor"
                                   ? slots_.define(text_of(held, "name"))
                                   : kNoSlot);
      }
    } else if (kind == "as_optional_tensor") {
      const auto [inner, held] = tagged(value, "output");
      if (inner == "as_tensor") {
        result.slot = slots_.define(text_of(held, "name"));
      }
    } else if (kind != "as_none") {
      throw Unsupported("an output of kind " + printable(kind) +
                        " cannot be kept");
    }
    return result;
  }

  static void check_results(const Node& node) {
    if (node.kind != Node::Kind::operation || node.results.empty()) return;
    const std::size_t returned = node.operation->schema().returns().size();
    if (node.results.size() > returned) {
      throw InvalidArgument("expected " + std::to_string(returned) +
                            " outputs, got " +
                            std::to_string(node.results.size()));
    }
  }

  /// A value is let go after the node that reads it last: the peak is that of
  /// eager torch, or less.
  void free_dead_values() {
    std::vector<char> live(graph_.slot_count, 0);
    const auto keep = [&](int slot) {
      if (slot == kNoSlot) return false;
      return std::exchange(live[static_cast<std::size_t>(slot)], 1) == 0;
    };
    for (const Element& output : graph_.outputs) keep(output.slot);
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend();
         ++node) {
      const auto last_use = [&](int slot) {
        if (keep(slot)) node->dead.push_back(slot);
      };
      for (const Result& result : node->results) {
        last_use(result.slot);
        for (const int slot : result.slots) last_use(slot);
      }
      for (const Argument& argument : node->arguments) {
        last_use(argument.element.slot);
        for (const Element& element : argument.elements) {
          last_use(element.slot);
        }
      }
    }
  }

  c10::Device device_;
  Graph graph_;
  Slots slots_;
};

}  // namespace

ReadGraph read_graph(const Json& graph, c10::Device device) {
  return Reader(device).read(graph);
}

}  // namespace modelrun::torch
