// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>
#include <onnxruntime_c_api.h>

namespace modelrun::onnxruntime {

/// Where the runtime's log goes while a backend exists.
///
/// The runtime has one environment, and so one logger, per process, which may
/// outlive the backend that made it: a fetched tensor keeps it. So its lines
/// go to whichever host was added last and is still there.
void add_log_host(const modelrun_host* host);
void remove_log_host(const modelrun_host* host) noexcept;

/// The logger to give to the runtime.
void ORT_API_CALL relay_log(void* unused, OrtLoggingLevel severity,
                            const char* category, const char* log_id,
                            const char* location, const char* message) noexcept;

}  // namespace modelrun::onnxruntime
