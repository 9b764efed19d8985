// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <openvino/core/model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/beam_index.h"
#include "backends/openvino/device.h"
#include "backends/openvino/options.h"
#include "backends/openvino/passed_inputs.h"
#include "backends/openvino/program.h"
#include "backends/openvino/repairs.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/signature.h"

namespace modelrun::openvino {

/// One loaded model. Any number of threads may run it.
class Session {
 public:
  Session(std::shared_ptr<const Runtime> runtime, const std::string& path,
          const Options& options);

  [[nodiscard]] const Signature& signature() const noexcept {
    return *signature_;
  }
  /// The program to run: another one once this one is damaged.
  [[nodiscard]] std::shared_ptr<Program> program() const;
  /// Whether a failed run damages a program.
  [[nodiscard]] bool is_damaged_by_failure() const noexcept {
    return is_damaged_by_failure_;
  }

  /// The input that is not in the signature.
  [[nodiscard]] const std::optional<BeamIndex>& beam_index() const noexcept {
    return beam_;
  }
  [[nodiscard]] const PassedInputs& passed_inputs() const noexcept {
    return *passed_;
  }
  /// Whether integers are computed as int32.
  [[nodiscard]] bool narrows_integers() const noexcept {
    return device_.name == "cpu";
  }
  /// The inputs whose values must fit then.
  [[nodiscard]] const std::vector<std::size_t>& narrowed_inputs()
      const noexcept {
    return narrowed_inputs_;
  }
  [[nodiscard]] nlohmann::json describe() const;

 private:
  [[nodiscard]] std::optional<std::size_t> beam_input() const {
    return beam_ ? std::optional(beam_->input) : std::nullopt;
  }
  /// Compiles for the first time.
  void make_program();
  void find_narrowed_inputs();
  [[nodiscard]] std::shared_ptr<Program> compile() const;

  std::shared_ptr<const Runtime> runtime_;
  Options options_;
  Device device_;
  std::vector<AppliedRepair> repairs_;
  std::string path_;
  std::shared_ptr<ov::Model> model_;
  std::unique_ptr<const Signature> signature_;
  std::optional<BeamIndex> beam_;
  std::optional<PassedInputs> passed_;
  std::vector<std::size_t> narrowed_inputs_;
  bool is_damaged_by_failure_ = false;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Program> program_;
};

}  // namespace modelrun::openvino
