// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace modelrun {

/// The number of threads worth computing with in this process, at least 1:
/// one for each physical core that its affinity mask lets it use, and no more
/// than its cgroup's CPU quota (v1 or v2, rounded up).
[[nodiscard]] int usable_cores();

namespace detail {

/// What `usable_cores` reads, so that a test can lay it out in a directory.
struct CoreSources {
  /// The CPUs of the affinity mask.
  std::vector<int> cpus;
  /// The root that holds `sys/devices/system/cpu`, `sys/fs/cgroup` and
  /// `proc/self/cgroup`.
  std::filesystem::path root = "/";
};

[[nodiscard]] int usable_cores(const CoreSources& sources);

}  // namespace detail
}  // namespace modelrun
