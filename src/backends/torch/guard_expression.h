// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/torch/graph.h"
#include "backends/torch/leaf_lookup.h"

namespace modelrun::torch {

/// A condition on a program's inputs that torch recorded, such as
/// `L['ids'].size()[1] == L['mask'].size()[1]`.
class GuardExpression {
 public:
  /// An input's size along an axis, or, without axis, a constant's value.
  struct Reference {
    std::size_t leaf = 0;
    std::optional<std::int64_t> axis;
  };
  using Lookup = std::function<c10::IValue(const Reference&)>;

  /// Nothing when it asks what cannot be told outside of Python.
  static std::optional<GuardExpression> parse(std::string text,
                                              const LeafLookup& leaves);

  /// Throws InvalidArgument where Python would, at a division by zero.
  [[nodiscard]] bool holds(const Lookup& lookup) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<Reference>& references() const noexcept {
    return references_;
  }
  /// Whether it says that two sizes are one.
  [[nodiscard]] bool is_plain_equality() const noexcept {
    return steps_.size() == 3 && references_.size() == 2 &&
           text_.find("==") != text_.npos;
  }

 private:
  friend class GuardParser;

  /// A step in postfix order: a constant, a reference or a function.
  struct Step {
    ScalarFunction function = nullptr;
    std::size_t operands = 0;
    std::optional<std::size_t> reference;
    c10::IValue constant;
  };

  std::string text_;
  std::vector<Step> steps_;
  std::vector<Reference> references_;
};

}  // namespace modelrun::torch
