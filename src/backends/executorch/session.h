// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "backends/executorch/loaded_method.h"
#include "backends/executorch/options.h"
#include "backends/executorch/program.h"
#include "backends/executorch/runtime.h"
#include "backends/executorch/signature.h"

namespace modelrun::executorch {

/// One loaded program. Immutable; any number of threads may use it.
class Session {
 public:
  Session(std::shared_ptr<Runtime> runtime, const std::string& path,
          const Options& options);

  [[nodiscard]] const Signature& signature() const noexcept {
    return *signature_;
  }
  /// A method with memory of its own and its scalar inputs set: the one that
  /// the session was loaded with, or another.
  [[nodiscard]] std::unique_ptr<LoadedMethod> make_method() const;
  /// Makes this thread compute with the session's threads while it lives.
  [[nodiscard]] ThreadPool::Scope use_threads() const {
    return {runtime_->threads(), threads_};
  }
  [[nodiscard]] nlohmann::json describe() const;

 private:
  [[nodiscard]] std::unique_ptr<LoadedMethod> load_method() const;
  void check_constants(const Options& options) const;
  void set_scalars(LoadedMethod& method) const;

  std::shared_ptr<Runtime> runtime_;
  Program program_;
  int threads_;
  std::unique_ptr<const Signature> signature_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<LoadedMethod> first_method_;
};

}  // namespace modelrun::executorch
