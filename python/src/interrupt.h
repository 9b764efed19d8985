// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>

#include "python.h"

namespace modelrun::python {

/// Lets Ctrl-C end what runs in the main thread while this object lives.
///
/// Python's own handler only leaves a note, which nobody reads during a run.
/// In other threads, and where Python does not handle SIGINT, it does nothing.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Stopped by Ctrl-C.
  [[nodiscard]] std::stop_token token() const {
    return stop_ != nullptr ? stop_->get_token() : std::stop_token();
  }
  /// Raises what the signal's handler raises, if there was a signal.
  void raise_if_interrupted() const;

 private:
  std::stop_source* stop_ = nullptr;
};

/// Does a work that cannot be stopped. In the main thread, Ctrl-C leaves it to
/// itself: it goes on, and what it throws or makes is dropped. The GIL is
/// released meanwhile.
void run_abandonable(std::function<void()> work);

/// Waits for works that were left to themselves. At the end of the process.
void wait_for_abandoned();

/// In a forked child, where none of the parent's other threads are.
void forget_threads() noexcept;

}  // namespace modelrun::python
