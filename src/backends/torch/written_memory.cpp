// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/written_memory.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string_view>

#include "backends/torch/scalar_function.h"

namespace modelrun::torch {
namespace {

/// These return an input, or a view of one, and do not say so.
constexpr std::array<std::string_view, 12> kUndeclaredViews{
    "aten::_unsafe_view", "aten::alpha_dropout", "aten::atleast_1d",
    "aten::atleast_2d",   "aten::atleast_3d",    "aten::broadcast_tensors",
    "aten::dropout",      "aten::einsum",        "aten::feature_dropout",
    "aten::lift",         "aten::meshgrid",      "aten::type_as"};

bool is_undeclared_view(const std::string& name) {
  return std::find(kUndeclaredViews.begin(), kUndeclaredViews.end(), name) !=
         kUndeclaredViews.end();
}

/// Sets of values that may share memory, over the slots of all graphs.
class AliasSets {
 public:
  std::size_t add(std::size_t count) {
    const std::size_t first = parents_.size();
    parents_.resize(first + count);
    std::iota(parents_.begin() + static_cast<std::ptrdiff_t>(first),
              parents_.end(), first);
    written_.resize(parents_.size(), false);
    return first;
  }
  void unite(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parents_[b] = a;
    written_[a] = written_[a] || written_[b];
  }
  void write(std::size_t a) { written_[root(a)] = true; }
  [[nodiscard]] bool is_written(std::size_t a) { return written_[root(a)]; }

 private:
  std::size_t root(std::size_t a) {
    while (parents_[a] != a) a = parents_[a] = parents_[parents_[a]];
    return a;
  }

  std::vector<std::size_t> parents_;
  std::vector<bool> written_;
};

class Analysis {
 public:
  /// The first element of the graph's slots.
  std::size_t add(const Graph& graph) {
    const std::size_t base = sets_.add(graph.slot_count);
    for (const Node& node : graph.nodes) {
      switch (node.kind) {
        case Node::Kind::operation:
          add_operation(node, base);
          break;
        case Node::Kind::scalar:
          if (node.function == first_operand) {
            unite_all(slots_of(node.arguments, base), results_of(node, base));
          }
          break;
        default:
          add_graphs(node, base);
      }
    }
    return base;
  }
  [[nodiscard]] bool is_written(std::size_t slot) {
    return sets_.is_written(slot);
  }

 private:
  using Ids = std::vector<std::size_t>;

  static void append(Ids& ids, int slot, std::size_t base) {
    if (slot != kNoSlot) ids.push_back(base + static_cast<std::size_t>(slot));
  }
  static Ids slots_of(std::span<const Argument> arguments, std::size_t base) {
    Ids ids;
    for (const Argument& argument : arguments) {
      append(ids, argument.element.slot, base);
      for (const Element& element : argument.elements) {
        append(ids, element.slot, base);
      }
    }
    return ids;
  }
  static Ids results_of(const Node& node, std::size_t base) {
    Ids ids;
    for (const Result& result : node.results) {
      append(ids, result.slot, base);
      for (const int slot : result.slots) append(ids, slot, base);
    }
    return ids;
  }
  void unite_all(const Ids& a, const Ids& b) {
    for (const std::size_t left : a) {
      for (const std::size_t right : b) sets_.unite(left, right);
    }
  }

  void add_operation(const Node& node, std::size_t base) {
    const c10::FunctionSchema& schema = node.operation->schema();
    const bool undeclared = is_undeclared_view(schema.name());
    Ids shared;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      if (!undeclared && schema.arguments()[i].alias_info() == nullptr) {
        continue;
      }
      const Ids ids = slots_of({&node.arguments[i], 1}, base);
      shared.insert(shared.end(), ids.begin(), ids.end());
    }
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      if (!undeclared && schema.returns()[i].alias_info() == nullptr) continue;
      Ids result;
      append(result, node.results[i].slot, base);
      for (const int slot : node.results[i].slots) append(result, slot, base);
      unite_all(shared, result);
    }
    for (const std::size_t index : node.written) {
      for (const std::size_t id : slots_of({&node.arguments[index], 1}, base)) {
        sets_.write(id);
      }
    }
  }

  /// What a graph gets and returns may be any operand and any result: control
  /// flow is rare, and so few inputs are copied in vain.
  void add_graphs(const Node& node, std::size_t base) {
    const Ids given = slots_of(node.arguments, base);
    const Ids returned = results_of(node, base);
    std::size_t settings = node.kind == Node::Kind::cond ? 1 : 0;
    for (const auto& graph : node.graphs) {
      const std::size_t inner = add(*graph);
      Ids inputs;
      for (const int slot : graph->inputs) append(inputs, slot, inner);
      Ids outputs;
      for (const Element& output : graph->outputs) {
        append(outputs, output.slot, inner);
      }
      if (given.size() >= settings &&
          given.size() - settings == inputs.size()) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          sets_.unite(given[settings + i], inputs[i]);
        }
      } else {
        unite_all(given, inputs);
      }
      for (std::size_t i = 0; i < std::min(outputs.size(), returned.size());
           ++i) {
        sets_.unite(outputs[i], returned[i]);
        if (node.kind == Node::Kind::while_loop && i < inputs.size()) {
          sets_.unite(outputs[i], inputs[i]);
        }
      }
    }
  }

  AliasSets sets_;
};

}  // namespace

std::vector<bool> find_written_memory(const Graph& graph) {
  Analysis analysis;
  const std::size_t base = analysis.add(graph);
  std::vector<bool> written(graph.slot_count);
  for (std::size_t slot = 0; slot < graph.slot_count; ++slot) {
    written[slot] = analysis.is_written(base + slot);
  }
  return written;
}

}  // namespace modelrun::torch
