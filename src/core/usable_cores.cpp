// SPDX-License-Identifier: Apache-2.0
#include "core/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace modelrun {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<long long> to_number(std::string_view text) {
  long long value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<long long> number_in(const fs::path& path) {
  const auto line = first_line(path);
  return line ? to_number(*line) : std::nullopt;
}

std::optional<double> quota(std::optional<long long> microseconds,
                            std::optional<long long> period) {
  if (!microseconds || !period || *microseconds <= 0 || *period <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*microseconds) / static_cast<double>(*period);
}

/// CPUs of one cgroup v2 directory: "max 100000" or "150000 100000".
std::optional<double> quota_v2(const fs::path& group) {
  const auto line = first_line(group / "cpu.max");
  if (!line) return std::nullopt;
  const auto space = line->find(' ');
  if (space == std::string::npos) return std::nullopt;
  const std::string_view text = *line;
  return quota(to_number(text.substr(0, space)),
               to_number(text.substr(space + 1)));
}

std::optional<double> quota_v1(const fs::path& group) {
  return quota(number_in(group / "cpu.cfs_quota_us"),
               number_in(group / "cpu.cfs_period_us"));
}

/// The smallest quota from `group` up to the root of its hierarchy: every
/// ancestor limits its descendants. In a container the path of
/// /proc/self/cgroup may be the host's, of which only the root is visible.
std::optional<double> smallest_quota(
    const fs::path& mount, std::string_view group,
    std::optional<double> (*read)(const fs::path&)) {
  std::optional<double> smallest;
  fs::path relative = fs::path(group).relative_path();
  while (true) {
    if (const auto found = read(mount / relative)) {
      smallest = smallest ? std::min(*smallest, *found) : *found;
    }
    if (relative.empty()) return smallest;
    relative = relative.parent_path();
  }
}

bool lists_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const auto comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) break;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

/// Lines are "id:controllers:path"; v2 is the one with no controllers.
std::optional<double> cgroup_quota(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  std::optional<double> smallest;
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view text = line;
    const auto controllers = text.substr(first + 1, second - first - 1);
    const auto group = text.substr(second + 1);
    std::optional<double> found;
    if (controllers.empty()) {
      found = smallest_quota(mounts, group, quota_v2);
    } else if (lists_cpu(controllers)) {
      found = smallest_quota(mounts / "cpu", group, quota_v1);
      if (!found) found = smallest_quota(mounts / controllers, group, quota_v1);
    }
    if (found) smallest = smallest ? std::min(*smallest, *found) : *found;
  }
  return smallest;
}

/// Hyperthreads of one core share a (package, core) pair. A CPU whose topology
/// is not told counts as a core of its own.
int physical_cores(const detail::CoreSources& sources) {
  std::set<std::pair<long long, long long>> cores;
  int untold = 0;
  for (const int cpu : sources.cpus) {
    const fs::path topology = sources.root / "sys/devices/system/cpu" /
                              ("cpu" + std::to_string(cpu)) / "topology";
    const auto package = number_in(topology / "physical_package_id");
    const auto core = number_in(topology / "core_id");
    if (package && core) {
      cores.emplace(*package, *core);
    } else {
      ++untold;
    }
  }
  return static_cast<int>(cores.size()) + untold;
}

/// Grows the mask until the kernel's fits: a fixed cpu_set_t ends at 1024.
std::vector<int> affinity() {
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 4) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (mask == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(capacity);
    std::vector<int> cpus;
    const bool read = sched_getaffinity(0, size, mask) == 0;
    for (int cpu = 0; read && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(cpu, size, mask)) cpus.push_back(cpu);
    }
    CPU_FREE(mask);
    if (read) return cpus;
  }
  std::vector<int> all(std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

}  // namespace

int detail::usable_cores(const CoreSources& sources) {
  int cores = physical_cores(sources);
  if (const auto limit = cgroup_quota(sources.root)) {
    const double rounded = std::ceil(*limit);
    if (rounded < cores) cores = static_cast<int>(rounded);
  }
  return std::max(cores, 1);
}

int usable_cores() { return detail::usable_cores({.cpus = affinity()}); }

}  // namespace modelrun
