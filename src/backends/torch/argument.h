// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>

#include <string>
#include <unordered_map>

#include "artifact/json_text.h"
#include "backends/torch/graph.h"

namespace modelrun::torch {

/// The slots of one graph, by the names that its values have there.
class Slots {
 public:
  /// The slot of a new value; a name may be given twice.
  int define(const std::string& name);
  /// Throws InvalidArgument when nothing before defines the name.
  [[nodiscard]] int use(const std::string& name) const;
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  std::unordered_map<std::string, int> names_;
  std::size_t count_ = 0;
};

/// Reads one serialized argument as `parameter` wants it; null for a parameter
/// of what has no schema. Every device becomes `device`.
[[nodiscard]] Argument read_argument(const Json& argument,
                                     const c10::Argument* parameter,
                                     const Slots& slots, c10::Device device);

/// One value: a constant or the value of a slot.
[[nodiscard]] Element read_element(const Json& argument, const Slots& slots,
                                   c10::Device device);

/// The list that an argument of a list kind stands for.
[[nodiscard]] c10::IValue make_list(const Argument& argument,
                                    const std::vector<c10::IValue>& values);

/// A number as a tensor that takes no part in type promotion; else `value`.
[[nodiscard]] c10::IValue number_as_tensor(const c10::IValue& value);

}  // namespace modelrun::torch
