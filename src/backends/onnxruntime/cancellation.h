// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "backends/onnxruntime/runtime.h"

namespace modelrun::onnxruntime {

/// The run options of one request, with the flag that ends a run early.
/// `cancel` may be called from any thread; without a run it does nothing.
class Cancellation {
 public:
  explicit Cancellation(const Runtime& runtime);

  [[nodiscard]] const OrtRunOptions* run_options() const noexcept {
    return options_.get();
  }
  void begin_run();
  /// Whether the run that ends was cancelled.
  [[nodiscard]] bool end_run();
  void cancel() noexcept;

 private:
  const Runtime& runtime_;
  Handle<OrtRunOptions> options_;
  /// The flag is set and cleared under it, so that a cancel that comes as a
  /// run ends cannot reach the next one.
  std::mutex mutex_;
  bool running_ = false;
  bool cancelled_ = false;
};

}  // namespace modelrun::onnxruntime
