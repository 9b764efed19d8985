// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>
#include <onnxruntime_c_api.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/onnxruntime/runtime.h"

namespace modelrun::onnxruntime {

/// The inputs and outputs of a session, in the layout that the contract has.
/// Initializers that a caller could override are not inputs.
class Signature {
 public:
  /// Throws Failure on a port that is no tensor of numbers, naming it.
  Signature(const Runtime& runtime, const OrtSession* session);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  [[nodiscard]] const modelrun_signature& view() const noexcept {
    return view_;
  }
  [[nodiscard]] const std::vector<modelrun_port>& inputs() const noexcept {
    return inputs_;
  }
  [[nodiscard]] const std::vector<modelrun_port>& outputs() const noexcept {
    return outputs_;
  }

 private:
  /// What the pointers of one port point to.
  struct Storage {
    std::string name;
    std::vector<std::int64_t> dims;
    std::deque<std::string> symbol_texts;
    std::vector<const char*> symbols;
  };

  modelrun_port add_port(const Runtime& runtime, const OrtTypeInfo* type,
                         std::string name, const char* kind);
  void read_shape(const Runtime& runtime, const OrtTensorTypeAndShapeInfo* info,
                  Storage& storage) const;

  std::deque<Storage> storage_;
  std::vector<modelrun_port> inputs_;
  std::vector<modelrun_port> outputs_;
  modelrun_signature view_{};
};

}  // namespace modelrun::onnxruntime
