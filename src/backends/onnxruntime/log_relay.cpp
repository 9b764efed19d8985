// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/log_relay.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace modelrun::onnxruntime {
namespace {

struct Hosts {
  std::shared_mutex mutex;
  std::vector<const modelrun_host*> live;
};

/// Never destroyed: the runtime may log while the process ends.
Hosts& hosts() {
  static auto* instance = new Hosts;
  return *instance;
}

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

void add_log_host(const modelrun_host* host) {
  const std::unique_lock lock(hosts().mutex);
  hosts().live.push_back(host);
}

void remove_log_host(const modelrun_host* host) noexcept {
  const std::unique_lock lock(hosts().mutex);
  auto& live = hosts().live;
  const auto found = std::find(live.rbegin(), live.rend(), host);
  if (found != live.rend()) live.erase(std::next(found).base());
}

void ORT_API_CALL relay_log(void*, OrtLoggingLevel severity, const char*,
                            const char*, const char*,
                            const char* message) noexcept {
  if (message == nullptr) return;
  const std::shared_lock lock(hosts().mutex);
  if (hosts().live.empty()) return;
  const modelrun_host* host = hosts().live.back();
  if (host->log == nullptr) return;
  host->log(host->context, level_of(severity), message, std::strlen(message));
}

}  // namespace modelrun::onnxruntime
