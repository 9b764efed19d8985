// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "backends/torch/archive.h"

namespace torch::inductor {
class AOTIModelContainerRunner;
}

namespace modelrun::torch {

/// Native code that AOTInductor compiled, opened: to open it is to run it. Any
/// number of threads may run it.
class CompiledCode {
 public:
  /// Checks that this processor can run it, unpacks it and opens it. At most
  /// `concurrency` runs go on at once, further ones wait.
  CompiledCode(const Archive& archive, int concurrency);
  ~CompiledCode();
  CompiledCode(const CompiledCode&) = delete;
  CompiledCode& operator=(const CompiledCode&) = delete;

  /// The outputs, which may share memory with inputs and constants.
  [[nodiscard]] std::vector<at::Tensor> run(
      std::vector<at::Tensor> inputs) const;
  /// Where it is unpacked.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept {
    return folder_;
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<::torch::inductor::AOTIModelContainerRunner> runner_;
};

}  // namespace modelrun::torch
