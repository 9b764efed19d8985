// SPDX-License-Identifier: Apache-2.0
#include "modelrun/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace modelrun {
namespace {

struct Sink {
  std::mutex mutex;
  std::shared_ptr<const LogCallback> callback;
  std::atomic<int> minimum{static_cast<int>(LogLevel::error) + 1};
};

// Never destroyed: runtimes log from their own threads until the very end.
Sink& sink() {
  static Sink* const instance = new Sink;
  return *instance;
}

}  // namespace

std::string_view name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      break;
  }
  return "error";
}

void set_log_callback(LogCallback callback, LogLevel minimum) {
  Sink& s = sink();
  const bool on = static_cast<bool>(callback);
  auto shared =
      on ? std::make_shared<const LogCallback>(std::move(callback)) : nullptr;
  const std::lock_guard lock(s.mutex);
  s.callback = std::move(shared);
  s.minimum =
      on ? static_cast<int>(minimum) : static_cast<int>(LogLevel::error) + 1;
}

bool log_enabled(LogLevel level) noexcept {
  return static_cast<int>(level) >=
         sink().minimum.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view message) noexcept {
  if (!log_enabled(level)) return;
  std::shared_ptr<const LogCallback> callback;
  {
    const std::lock_guard lock(sink().mutex);
    callback = sink().callback;
  }
  try {
    if (callback) (*callback)(level, message);
  } catch (...) {
    // A log line is never worth more than the call that wrote it.
  }
}

}  // namespace modelrun
