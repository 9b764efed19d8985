// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <openvino/core/model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/runtime.h"

namespace modelrun::openvino {

/// The inputs, outputs and variables of a model, in the layout that the
/// contract has. An input that only serves the variables is left out.
class Signature {
 public:
  /// Throws Failure on a port that is no tensor of numbers, naming it.
  Signature(const ov::Model& model, std::optional<std::size_t> beam_input);
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
  [[nodiscard]] const std::vector<modelrun_port>& states() const noexcept {
    return states_;
  }
  /// The variable of each state.
  [[nodiscard]] const std::vector<std::string>& variable_ids() const noexcept {
    return variable_ids_;
  }

 private:
  /// What the pointers of one port point to.
  struct Storage {
    std::vector<std::string> names;
    std::vector<const char*> aliases;
    std::vector<std::int64_t> dims;
  };

  modelrun_port add_port(std::vector<std::string> names,
                         const ov::element::Type& type,
                         const ov::PartialShape& shape, const char* kind);
  void add_states(const ov::Model& model);

  std::deque<Storage> storage_;
  std::vector<modelrun_port> inputs_;
  std::vector<modelrun_port> outputs_;
  std::vector<modelrun_port> states_;
  std::vector<std::string> variable_ids_;
  modelrun_signature view_{};
};

/// The leaf path in a variable's id, `input.<path>output.<path>`; the id itself
/// when it is not made so.
[[nodiscard]] std::string state_path(const std::string& variable_id);

/// Throws Failure unless a tensor of this dtype and these dims fits `port`.
void check_fits(const modelrun_port& port, const DLTensor& tensor);

}  // namespace modelrun::openvino
