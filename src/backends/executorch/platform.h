// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "backends/executorch/api.h"

namespace modelrun::executorch {

/// The runtime stopped in the middle of a call: what it was at is unusable.
class Aborted : public Failure {
 public:
  explicit Aborted(std::string message)
      : Failure(MODELRUN_BACKEND_ERROR, std::move(message)) {}
};

/// Takes over the runtime's platform functions, once per process: what it logs
/// goes to the log hosts, and where it would end the process it throws Aborted
/// out of the call that a LogCapture is around.
void take_over_platform();

/// Keeps what the runtime logs as errors on this thread, for the message of an
/// exception. What is not taken goes to the log hosts in the end.
class LogCapture {
 public:
  LogCapture() noexcept;
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  void add(const char* text, std::size_t length) noexcept;
  /// The lines so far, separated by "; ".
  [[nodiscard]] std::string take() noexcept;

 private:
  std::string text_;
  LogCapture* outer_;
};

}  // namespace modelrun::executorch
