// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "backends/torch/archive.h"
#include "backends/torch/compiled_code.h"
#include "backends/torch/options.h"
#include "backends/torch/program.h"
#include "backends/torch/signature.h"

namespace modelrun::torch {

/// The devices that sessions can be created for.
[[nodiscard]] std::vector<std::string> device_names();

/// One loaded program. Immutable; any number of threads may run it.
class Session {
 public:
  Session(const std::string& path, Options options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const Archive& archive() const noexcept { return archive_; }
  [[nodiscard]] const Program& program() const noexcept { return program_; }
  [[nodiscard]] const Signature& signature() const noexcept {
    return signature_;
  }
  /// Null for a program that is interpreted.
  [[nodiscard]] const CompiledCode* code() const noexcept {
    return code_.get();
  }
  [[nodiscard]] int threads() const noexcept { return options_.threads; }
  [[nodiscard]] nlohmann::json describe() const;

 private:
  Options options_;
  c10::Device device_;
  Archive archive_;
  Program program_;
  Signature signature_;
  std::unique_ptr<const CompiledCode> code_;
};

}  // namespace modelrun::torch
