// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace modelrun {

/// How much a log line matters.
enum class LogLevel { debug, info, warning, error };

/// The word for a level, such as `"warning"`.
[[nodiscard]] std::string_view name(LogLevel level) noexcept;

/// Receives every log line of the library and of the runtimes under it.
///
/// It may be called from any thread, several at a time, and must not throw.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

/// Sends log lines of at least `minimum` to `callback`; an empty callback
/// silences the library, which is the default. Thread-safe.
void set_log_callback(LogCallback callback,
                      LogLevel minimum = LogLevel::warning);

/// Passes one line to the callback, if one is set and the level is enough.
void log(LogLevel level, std::string_view message) noexcept;

/// Whether a line of this level would reach a callback.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

}  // namespace modelrun
