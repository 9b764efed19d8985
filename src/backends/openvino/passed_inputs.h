// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <openvino/core/model.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <optional>
#include <string>
#include <vector>

namespace modelrun::openvino {

/// The outputs of a model that return an input as it is. They are taken out of
/// it, and a request copies the input instead.
///
/// In a graph of dynamic shapes the CPU plugin lets such an output share the
/// memory of its input, which is the caller's, and keeps it: a later run, even
/// of another request, writes its own input there, when that memory may be
/// read-only or freed long since (2026.4.1).
class PassedInputs {
 public:
  /// Takes those that the model shows.
  PassedInputs(ov::Model& model, std::optional<std::size_t> beam_input);

  /// Takes those, too, that the compiler made of `model` by leaving out what
  /// lay between. Returns whether there were any: then it must be compiled
  /// again.
  bool take_found(ov::Model& model, const ov::CompiledModel& compiled);

  /// The input, among those without `beam_idx`, that an output returns.
  [[nodiscard]] std::optional<std::size_t> of_output(std::size_t index) const {
    return inputs_[index];
  }
  [[nodiscard]] std::size_t output_count() const noexcept {
    return inputs_.size();
  }
  /// Which outputs are left to the model, in its order.
  [[nodiscard]] const std::vector<std::size_t>& left() const noexcept {
    return left_;
  }

 private:
  /// The input's index for a parameter; nothing for that of `beam_idx`.
  [[nodiscard]] std::optional<std::size_t> input_of(
      const ov::Model& model, const ov::Node* parameter) const;
  void take(ov::Model& model, std::size_t result, std::size_t input);
  static void keep_one_result(ov::Model& model);

  std::optional<std::size_t> beam_input_;
  /// By output of the whole model.
  std::vector<std::optional<std::size_t>> inputs_;
  std::vector<std::size_t> left_;
};

}  // namespace modelrun::openvino
