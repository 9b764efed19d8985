// SPDX-License-Identifier: Apache-2.0
#include "core/usable_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace modelrun {
namespace {

namespace fs = std::filesystem;

/// A root with the files that the kernel would show.
class UsableCores : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cores-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  /// `threads` hyperthreads for each of `cores`, numbered as Linux does.
  void make_topology(int cores, int threads) {
    for (int cpu = 0; cpu < cores * threads; ++cpu) {
      const auto folder = fs::path("sys/devices/system/cpu") /
                          ("cpu" + std::to_string(cpu)) / "topology";
      write(folder / "physical_package_id", "0\n");
      write(folder / "core_id", std::to_string(cpu % cores) + "\n");
    }
  }
  int cores(std::vector<int> cpus) {
    return detail::usable_cores({.cpus = std::move(cpus), .root = root});
  }

  fs::path root;
};

TEST_F(UsableCores, HyperthreadsOfOneCoreCountOnce) {
  make_topology(4, 2);
  EXPECT_EQ(cores({0, 1, 2, 3, 4, 5, 6, 7}), 4);
  EXPECT_EQ(cores({0, 4}), 1);
  EXPECT_EQ(cores({0, 1, 4}), 2);
}

TEST_F(UsableCores, WithoutTopologyEachCpuIsACore) {
  EXPECT_EQ(cores({0, 1, 5}), 3);
  EXPECT_EQ(cores({}), 1);
}

TEST_F(UsableCores, QuotaOfVersion2IsRoundedUp) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 2);
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 2);
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 1);
  write("sys/fs/cgroup/cpu.max", "900000 100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 4);
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 4);
}

TEST_F(UsableCores, EveryParentGroupLimits) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/cpu.max", "100000 100000\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "300000 100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 1);
}

TEST_F(UsableCores, QuotaOfVersion1IsReadFromItsController) {
  write("proc/self/cgroup",
        "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n1:cpuset:/\n");
  // In a container the host's path is not there, the root is.
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 3);
  write("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 1);
  write("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cores({0, 1, 2, 3}), 4);
}

TEST_F(UsableCores, NonsenseLimitsNothing) {
  write("proc/self/cgroup", "what\n:\n::\n0::/../../..\n0::/\n");
  for (const char* text : {"", "x y\n", "100000\n", "0 0\n", "1 -1\n",
                           "99999999999999999999 100000\n"}) {
    write("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(cores({0, 1}), 2) << text;
  }
}

TEST(UsableCoresHere, FollowTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace modelrun
