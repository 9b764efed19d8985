// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace modelrun::torch {

/// Values are numbered: a frame has one slot for each.
constexpr int kNoSlot = -1;

struct Graph;

/// A constant, or the value of a slot.
struct Element {
  int slot = kNoSlot;
  c10::IValue constant;
};

/// One argument of a node, as its parameter wants it.
struct Argument {
  enum class Kind : std::uint8_t {
    /// `element` as it is.
    plain,
    /// A number becomes a tensor of one that takes no part in promotion.
    tensor,
    /// An integer becomes a float.
    floating,
    ints,
    floats,
    bools,
    tensors,
    optional_tensors,
    /// `elements` one after the other: operands of what has no schema.
    operands,
  };

  Kind kind = Kind::plain;
  Element element;
  std::vector<Element> elements;
};

/// Where one returned value goes: a slot, or the slots of a returned list.
struct Result {
  int slot = kNoSlot;
  bool is_list = false;
  std::vector<int> slots;
};

/// Python's function of numbers, given all operands.
using ScalarFunction = c10::IValue (*)(c10::ArrayRef<c10::IValue> operands);

struct Node {
  enum class Kind : std::uint8_t {
    operation,
    scalar,
    cond,
    while_loop,
    scan,
    /// Runs its graph, as if it were written out.
    inlined,
    autocast,
  };

  Kind kind = Kind::operation;
  /// For messages.
  std::string name;
  std::string target;
  std::optional<c10::OperatorHandle> operation;
  ScalarFunction function = nullptr;
  std::vector<Argument> arguments;
  std::vector<std::shared_ptr<const Graph>> graphs;
  std::vector<Result> results;
  /// Arguments whose memory the operation writes.
  std::vector<std::size_t> written;
  /// Slots that no later node reads.
  std::vector<int> dead;
};

/// A program, or a part of one that a control-flow node runs.
struct Graph {
  std::size_t slot_count = 0;
  std::vector<int> inputs;
  std::vector<Node> nodes;
  std::vector<Element> outputs;
};

}  // namespace modelrun::torch
