// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/platform.h"

#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <cstdlib>

#include "backends/common/log_hosts.h"

namespace modelrun::executorch {
namespace {

/// More of the runtime's words than this make a message hard to read.
constexpr std::size_t kCaptured = 2000;

thread_local LogCapture* capture = nullptr;

void relay_log(et_timestamp_t, et_pal_log_level_t level, const char*,
               const char*, std::size_t, const char* message,
               std::size_t length) {
  if (message == nullptr) return;
  const bool is_error = level == kError || level == kFatal;
  if (is_error && capture != nullptr) return capture->add(message, length);
  // What it tells of itself (files of the processor's that it read) is of no
  // use to a caller.
  plugin::log_to_host(is_error ? MODELRUN_LOG_WARNING : MODELRUN_LOG_DEBUG,
                      {message, length});
}

/// The runtime's checks end here. Frames in between are unwound without
/// destructors, so whatever was at work must not be used again.
[[noreturn]] void throw_instead_of_abort() {
  if (capture == nullptr) std::abort();
  throw Aborted("ExecuTorch gave up: " + capture->take());
}

}  // namespace

void take_over_platform() {
  static const bool taken = et::register_pal(
      et::PalImpl::create(nullptr, throw_instead_of_abort, nullptr, nullptr,
                          relay_log, nullptr, nullptr, "modelrun"));
  if (!taken) {
    throw Failure(MODELRUN_BACKEND_ERROR,
                  "ExecuTorch refused the functions for its log");
  }
}

LogCapture::LogCapture() noexcept : outer_(std::exchange(capture, this)) {}

LogCapture::~LogCapture() {
  capture = outer_;
  if (!text_.empty()) plugin::log_to_host(MODELRUN_LOG_WARNING, text_);
}

void LogCapture::add(const char* text, std::size_t length) noexcept {
  if (text_.size() >= kCaptured) return;
  try {
    if (!text_.empty()) text_ += "; ";
    text_.append(text, std::min(length, kCaptured));
  } catch (...) {
    // Without memory for it the line is lost, as a log may be.
  }
}

std::string LogCapture::take() noexcept { return std::exchange(text_, {}); }

}  // namespace modelrun::executorch
