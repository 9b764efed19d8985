// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modelrun/device.h"
#include "modelrun/tensor.h"
#include "modelrun/value.h"
#include "runner/input_plan.h"
#include "runner/leaf_map.h"
#include "runner/shape_check.h"

namespace modelrun {

/// Turns the kwargs of one call into program inputs, checked.
///
/// Allocates nothing in a call like the one before. One thread at a time.
class InputBinder {
 public:
  InputBinder(const InputPlan& plan, Device device, bool check_recorded_shapes);

  /// One tensor a slot of the plan, contiguous, of the slot's dtype, with all
  /// checks passed; null for a state that is not given. They are the caller's
  /// own tensors (borrowed: valid as long as `kwargs`) or, where the one table
  /// of conversions allows it, converted copies. Throws InvalidArgument.
  std::span<const Tensor* const> bind(Kwargs kwargs);

  /// What the last `bind` returned.
  [[nodiscard]] std::span<const Tensor* const> inputs() const noexcept {
    return inputs_;
  }
  /// The kwargs and leaves of the last call that the export was not traced
  /// with. The texts live as long as the call's kwargs.
  [[nodiscard]] std::span<const std::string_view> dropped() const noexcept {
    return dropped_;
  }
  /// Whether the tensor of a slot is a converted copy.
  [[nodiscard]] bool is_converted(std::size_t slot) const noexcept {
    return inputs_[slot] == &converted_[slot];
  }
  /// Lets go of the tensors that the last call converted.
  void release() noexcept;

  /// What the shapes of the last inputs made of the plan's symbols.
  [[nodiscard]] std::span<const std::int64_t> symbol_values() const noexcept {
    return shape_check_.symbol_values();
  }

 private:
  void bind_kwarg(const Kwarg& kwarg);
  void bind_scalar(const KwargPlan& plan, const Value& value);
  void bind_nested(const KwargPlan& plan, const Value& value);
  void set(std::size_t slot, const Tensor& tensor);
  const Tensor* convert(std::size_t slot, const Tensor& tensor);
  void check_complete(Kwargs kwargs) const;
  [[nodiscard]] bool has_states() const noexcept;
  void check_indices() const;

  const InputPlan& plan_;
  Device device_;
  ShapeCheck shape_check_;
  LeafMaps leaf_maps_;
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor> converted_;
  std::vector<std::string_view> dropped_;
};

}  // namespace modelrun
