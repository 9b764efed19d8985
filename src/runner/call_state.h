// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "runner/input_binder.h"

namespace modelrun {

/// All that one call works with: a request, and scratch memory that the next
/// call reuses.
struct CallState {
  CallState(std::shared_ptr<const Session> session, const InputPlan& inputs,
            std::size_t output_count, Device device, bool check_recorded_shapes)
      : request(std::move(session)),
        binder(inputs, device, check_recorded_shapes),
        copies(inputs.slots().size()),
        buffers(output_count),
        bound(output_count, false),
        misdeclared(output_count, false) {}

  Request request;
  InputBinder binder;
  /// Copies of inputs that are not shared.
  std::vector<Tensor> copies;
  /// Outputs of the last run that shared them.
  std::vector<Tensor> buffers;
  /// Whether an output port is bound to its buffer.
  std::vector<bool> bound;
  /// Whether an output once had another shape than the program declares: some
  /// exporters name a cache's past and present length alike.
  std::vector<bool> misdeclared;
};

/// Call states that no call is using. Thread-safe.
class CallStatePool {
 public:
  /// Null when there is none.
  [[nodiscard]] std::unique_ptr<CallState> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<CallState> state = std::move(idle_.back());
    idle_.pop_back();
    return state;
  }
  /// Keeps a state for later; what it was made for need not be over.
  void give(std::unique_ptr<CallState> state) noexcept {
    const std::lock_guard lock(mutex_);
    // `reserve` made room for every state that exists.
    idle_.push_back(std::move(state));
  }
  /// Makes room for one more state to be given back.
  void reserve() {
    const std::lock_guard lock(mutex_);
    idle_.reserve(++made_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<CallState>> idle_;
  std::size_t made_ = 0;
};

}  // namespace modelrun
