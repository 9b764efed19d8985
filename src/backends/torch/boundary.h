// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

namespace modelrun::torch {

/// The status of the exception in flight, its message written to `error`:
/// the library's own kinds, and the runtime's as MODELRUN_BACKEND_ERROR.
modelrun_status report_exception(const modelrun_sink* error) noexcept;

}  // namespace modelrun::torch
