// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace modelrun::openvino {

/// Whether a run was cancelled. The run goes on to its end: one that the
/// runtime breaks off leaves wrong shapes in a graph that others run too.
/// `cancel` may be called from any thread; without a run it does nothing.
class Cancellation {
 public:
  void begin_run() {
    const std::lock_guard lock(mutex_);
    is_running_ = true;
    is_cancelled_ = false;
  }
  /// Whether the run that ends was cancelled.
  [[nodiscard]] bool end_run() {
    const std::lock_guard lock(mutex_);
    is_running_ = false;
    return is_cancelled_;
  }
  void cancel() noexcept {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = is_running_;
  }

 private:
  std::mutex mutex_;
  bool is_running_ = false;
  bool is_cancelled_ = false;
};

}  // namespace modelrun::openvino
