// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

namespace modelrun::onnxruntime {

/// The logger to give to the runtime.
void ORT_API_CALL relay_log(void* unused, OrtLoggingLevel severity,
                            const char* category, const char* log_id,
                            const char* location, const char* message) noexcept;

}  // namespace modelrun::onnxruntime
