// SPDX-License-Identifier: Apache-2.0
#include "backends/common/log_hosts.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace modelrun::plugin {
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

void log_to_host(modelrun_log_level level, std::string_view text) noexcept {
  const std::shared_lock lock(hosts().mutex);
  if (hosts().live.empty()) return;
  const modelrun_host* host = hosts().live.back();
  if (host->log == nullptr) return;
  host->log(host->context, level, text.data(), text.size());
}

}  // namespace modelrun::plugin
