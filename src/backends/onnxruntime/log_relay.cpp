// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/log_relay.h"

#include "backends/common/log_hosts.h"

namespace modelrun::onnxruntime {
namespace {

modelrun_log_level level_of(OrtLoggingLevel severity) noexcept {
  switch (severity) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return MODELRUN_LOG_DEBUG;
    case ORT_LOGGING_LEVEL_INFO:
      return MODELRUN_LOG_INFO;
    case ORT_LOGGING_LEVEL_WARNING:
      return MODELRUN_LOG_WARNING;
    default:
      return MODELRUN_LOG_ERROR;
  }
}

}  // namespace

void ORT_API_CALL relay_log(void*, OrtLoggingLevel severity, const char*,
                            const char*, const char*,
                            const char* message) noexcept {
  if (message == nullptr) return;
  plugin::log_to_host(level_of(severity), message);
}

}  // namespace modelrun::onnxruntime
