// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "modelrun/tensor.h"
#include "runner/input_plan.h"

namespace modelrun {

/// Checks the shapes of one call's inputs against the plan: first each input's
/// rank and fixed sizes, then the symbols and expressions across all inputs,
/// then the kwargs that were recorded alike.
///
/// Holds the symbols' values of the last call. Allocates nothing in a call that
/// passes. One thread at a time.
class ShapeCheck {
 public:
  ShapeCheck(const InputPlan& plan, bool check_recorded_shapes);

  /// `inputs` has one tensor a slot, null for a state that is not given. Throws
  /// InvalidArgument, which names the input, what was expected and what came.
  void operator()(std::span<const Tensor* const> inputs);

  /// The symbols of the plan, as the last inputs set them.
  [[nodiscard]] std::span<const std::int64_t> symbol_values() const noexcept {
    return values_;
  }

 private:
  [[nodiscard]] bool is_checked(std::size_t slot,
                                std::span<const Tensor* const> inputs) const;
  void check_fixed(std::size_t slot, const Shape& shape) const;
  void bind_symbols(std::size_t slot, const Shape& shape);
  void check_expressions(std::span<const Tensor* const> inputs);
  bool solve_one(std::span<const Tensor* const> inputs);
  void check_recorded(std::span<const Tensor* const> inputs) const;
  [[noreturn]] void refuse(std::size_t slot, const Shape& shape,
                           std::size_t axis, std::int64_t expected) const;

  const InputPlan& plan_;
  bool check_recorded_shapes_;
  std::vector<std::int64_t> values_;
  /// The slot that set each symbol.
  std::vector<std::size_t> origins_;
};

}  // namespace modelrun
