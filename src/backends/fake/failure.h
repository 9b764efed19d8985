// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "modelrun/backend.h"

namespace modelrun::fake {

/// A failure on its way to the boundary.
class Failure : public std::runtime_error {
 public:
  Failure(modelrun_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  [[nodiscard]] modelrun_status status() const noexcept { return status_; }

 private:
  modelrun_status status_;
};

[[noreturn]] inline void fail(modelrun_status status,
                              const std::string& message) {
  throw Failure(status, message);
}

inline void write(const modelrun_sink* sink, std::string_view text) {
  if (sink != nullptr) sink->write(sink->context, text.data(), text.size());
}

/// Runs the body of one call; what it throws becomes a status and a message.
template <typename Body>
modelrun_status guard(const modelrun_sink* error, Body&& body) noexcept {
  try {
    body();
    return MODELRUN_OK;
  } catch (const Failure& failure) {
    write(error, failure.what());
    return failure.status();
  } catch (const std::exception& failure) {
    write(error, failure.what());
    return MODELRUN_BACKEND_ERROR;
  }
}

}  // namespace modelrun::fake
