// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/runtime/executor/program.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "backends/executorch/api.h"
#include "backends/executorch/plan.h"

namespace modelrun::executorch {

/// A program file, mapped and verified, and the one method of it that is run:
/// `forward`, or the only one. Immutable; any number of threads may use it.
class Program {
 public:
  /// Throws Failure that names the file.
  explicit Program(const std::string& path);

  [[nodiscard]] const et::Program& handle() const noexcept { return *program_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& method() const noexcept { return method_; }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] et::MethodMeta meta() const;

 private:
  using Loader = ::executorch::extension::MmapDataLoader;

  void read(std::span<const std::byte> file);
  void choose_method(const ProgramFacts& facts);

  std::string path_;
  std::optional<Loader> loader_;
  std::optional<et::Program> program_;
  std::string method_;
  Plan plan_;
};

}  // namespace modelrun::executorch
