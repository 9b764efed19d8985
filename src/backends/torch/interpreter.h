// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/stack.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backends/torch/graph.h"

namespace modelrun::torch {

/// Memory that a run may not write: the mapped archive, the caller's inputs.
class ProtectedMemory {
 public:
  void clear() noexcept { ranges_.clear(); }
  void add(const void* begin, std::size_t size) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    ranges_.emplace_back(address, address + size);
  }
  [[nodiscard]] bool covers(const void* data) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    for (const auto& [begin, end] : ranges_) {
      if (address >= begin && address < end) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges_;
};

/// Where a run stands, so that another thread can end it.
enum class RunState : std::uint8_t { idle, running, cancelled };

/// Runs graphs over the dispatcher. One thread at a time.
class Interpreter {
 public:
  Interpreter(const ProtectedMemory& protected_memory,
              const std::atomic<RunState>& state)
      : protected_(protected_memory), state_(state) {}

  /// Runs the nodes on `values`, one a slot. Throws BackendError with the
  /// runtime's words and the node's name, InvalidArgument where the graph's own
  /// checks fail. What it leaves in `values` then is unspecified.
  void run(const Graph& graph, std::vector<c10::IValue>& values);

 private:
  using Values = std::vector<c10::IValue>;

  void run_nodes(const Graph& graph, Values& values, const Node*& current);
  void run_node(const Node& node, Values& values);
  void run_operation(const Node& node, Values& values);
  void run_scalar(const Node& node, Values& values);
  void run_cond(const Node& node, Values& values);
  void run_while_loop(const Node& node, Values& values);
  void run_scan(const Node& node, Values& values);
  void run_autocast(const Node& node, Values& values);
  [[nodiscard]] Values call(const Graph& graph, Values inputs);

  const ProtectedMemory& protected_;
  const std::atomic<RunState>& state_;
  c10::Stack stack_;
};

}  // namespace modelrun::torch
