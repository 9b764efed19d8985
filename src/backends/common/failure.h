// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <exception>
#include <string>
#include <string_view>

namespace modelrun::plugin {

/// What is thrown inside a plugin. It never leaves it: `guard` turns it into a
/// status and a text.
class Failure : public std::exception {
 public:
  Failure(modelrun_status status, std::string message)
      : status_(status), message_(std::move(message)) {}

  [[nodiscard]] modelrun_status status() const noexcept { return status_; }
  [[nodiscard]] const char* what() const noexcept override {
    return message_.c_str();
  }

 private:
  modelrun_status status_;
  std::string message_;
};

/// Writes `text` to a sink that may be NULL.
void write_to(const modelrun_sink* sink, std::string_view text) noexcept;

/// The status of the exception in flight, its message written to `error`.
modelrun_status report_exception(const modelrun_sink* error) noexcept;

/// Runs `body`, letting no exception out.
template <typename Body>
modelrun_status guard(const modelrun_sink* error, Body&& body) noexcept {
  try {
    body();
    return MODELRUN_OK;
  } catch (...) {
    return report_exception(error);
  }
}

}  // namespace modelrun::plugin
