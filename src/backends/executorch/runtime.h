// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/executorch/plan.h"
#include "backends/executorch/thread_pool.h"

namespace modelrun::executorch {

/// The runtime's libraries, once per process. Kernels and delegates are opened
/// when a program first needs them, and stay. Thread-safe.
class Runtime {
 public:
  /// The library that this plugin is linked to is in the process already, put
  /// there by whoever opened the plugin; the others are taken from its folder.
  /// Throws Failure when it is of another release.
  [[nodiscard]] static std::shared_ptr<Runtime> open(const modelrun_host& host);

  /// Opens what a plan needs; throws Failure that names the delegates or all
  /// of the operators that are missing.
  void provide(const Plan& plan);

  [[nodiscard]] ThreadPool& threads() noexcept { return threads_; }
  /// As `"1.5.1+cpu"`; empty when nothing beside the library tells.
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The delegates that are registered.
  [[nodiscard]] std::vector<std::string> delegates() const;

  /// As `std::make_shared` needs it; use `open`.
  explicit Runtime(std::string path);

 private:
  void provide_delegates(const std::vector<std::string>& names);
  void provide_operators(const std::vector<std::string>& names);

  std::string path_;
  std::string folder_;
  std::string version_;
  ThreadPool threads_;
  std::mutex mutex_;
};

}  // namespace modelrun::executorch
