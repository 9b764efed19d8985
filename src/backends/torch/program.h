// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/torch/graph.h"
#include "backends/torch/guard_expression.h"
#include "backends/torch/weights.h"

namespace modelrun::torch {

/// What a port is, before it is put into the contract's layout.
struct PortSpec {
  /// `#3`
  std::string name;
  /// Its name in the graph, for messages.
  std::string recorded;
  c10::ScalarType type = c10::ScalarType::Undefined;
  /// -1 for a dynamic axis.
  std::vector<std::int64_t> dims;
  /// Empty for an axis without one.
  std::vector<std::string> symbols;
};

/// An input that a request binds.
struct ProgramInput {
  PortSpec port;
  int slot = kNoSlot;
  /// A size or another number, which the graph takes as such.
  bool is_number = false;
  /// Some node writes its memory, so each run works on a copy.
  bool is_written = false;
};

/// An input that takes no tensor, with its value.
struct ProgramConstant {
  int slot = kNoSlot;
  c10::IValue value;
};

struct ProgramOutput {
  PortSpec port;
  Element element;
  /// The JSON text of an output that is no value of the run.
  std::optional<std::string> constant;
  /// A size or another number that the run computes.
  bool is_number = false;
};

struct ProgramWeight {
  int slot = kNoSlot;
  StoredTensor stored;
  at::Tensor tensor;
};

/// A record whose weights some node writes, so that each run has a copy.
struct WrittenRecord {
  std::span<const std::uint8_t> bytes;
  std::vector<std::size_t> weights;
};

/// What a size may be at most, or at least.
struct SizeBound {
  std::size_t input = 0;
  std::size_t axis = 0;
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;
};

/// A whole exported program, ready to run. Immutable.
struct Program {
  Graph graph;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramConstant> constants;
  std::vector<ProgramOutput> outputs;
  std::vector<ProgramWeight> weights;
  std::vector<WrittenRecord> written;
  std::vector<SizeBound> bounds;
  std::vector<GuardExpression> guards;
  /// Guards that cannot be told outside of Python, and so are not checked.
  std::vector<std::string> unread_guards;
  /// Of the leaves of `in_spec`: the input's index, or the constant's value.
  std::map<std::size_t, std::size_t> input_of_leaf;
  std::map<std::size_t, c10::IValue> constant_of_leaf;
  /// The torch that wrote it.
  std::string torch_version;
};

}  // namespace modelrun::torch
