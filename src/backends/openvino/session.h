// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/compiled_model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/beam_index.h"
#include "backends/openvino/device.h"
#include "backends/openvino/options.h"
#include "backends/openvino/repairs.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/signature.h"

namespace modelrun::openvino {

using InputPort = ov::Output<const ov::Node>;

/// One compiled model. Immutable; any number of threads may run it.
class Session {
 public:
  Session(std::shared_ptr<const Runtime> runtime, const std::string& path,
          const Options& options);

  [[nodiscard]] const Signature& signature() const noexcept {
    return *signature_;
  }
  /// In the signature's order.
  [[nodiscard]] const std::vector<InputPort>& inputs() const noexcept {
    return inputs_;
  }
  [[nodiscard]] const std::vector<InputPort>& outputs() const noexcept {
    return outputs_;
  }
  [[nodiscard]] ov::InferRequest make_request() const;

  /// The input that is not in the signature, and where its size comes from;
  /// `batch_input` counts as the signature does.
  [[nodiscard]] const std::optional<BeamIndex>& beam_index() const noexcept {
    return beam_;
  }
  [[nodiscard]] const InputPort& beam_port() const noexcept {
    return beam_port_;
  }
  /// One JSON object.
  [[nodiscard]] std::string describe() const;

 private:
  void compile(const std::shared_ptr<ov::Model>& model,
               const std::string& path);
  void take_ports();

  std::shared_ptr<const Runtime> runtime_;
  Options options_;
  Device device_;
  std::vector<AppliedRepair> repairs_;
  mutable ov::CompiledModel compiled_;
  std::unique_ptr<const Signature> signature_;
  std::vector<InputPort> inputs_;
  std::vector<InputPort> outputs_;
  std::optional<BeamIndex> beam_;
  InputPort beam_port_;
};

}  // namespace modelrun::openvino
