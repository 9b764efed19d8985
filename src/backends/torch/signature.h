// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <deque>
#include <vector>

#include "backends/torch/program.h"

namespace modelrun::torch {

/// A program's ports in the contract's layout. They point into the program.
class Signature {
 public:
  explicit Signature(const Program& program);
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
  modelrun_port port_of(const PortSpec& spec);

  std::deque<std::vector<const char*>> symbols_;
  std::vector<modelrun_port> inputs_;
  std::vector<modelrun_port> outputs_;
  modelrun_signature view_{};
};

}  // namespace modelrun::torch
