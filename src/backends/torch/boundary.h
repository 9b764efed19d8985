// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

namespace modelrun::torch {

/// The status of the exception in flight, its message written to `error`:
/// the library's own kinds, and the runtime's as MODELRUN_BACKEND_ERROR.
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

}  // namespace modelrun::torch
