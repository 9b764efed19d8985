// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "python.h"

namespace modelrun::python {

/// An instance of a class, made without its constructor.
[[nodiscard]] nb::object new_instance(nb::handle type);

/// Makes instances of one ModelOutput class with given fields.
///
/// The class's own constructor takes several microseconds. It makes the first
/// instance, and what it leaves is compared with what the short way leaves; it
/// makes all others, too, where the two differ.
class ModelOutputClass {
 public:
  ModelOutputClass(nb::object type, std::vector<nb::object> keys);

  /// `values` are in the order of the keys; None is a field that is not set.
  [[nodiscard]] nb::object build(const std::vector<nb::object>& values);

 private:
  enum class Way { unknown, fast, constructor };

  [[nodiscard]] nb::object construct(
      const std::vector<nb::object>& values) const;
  [[nodiscard]] nb::object assemble(
      const std::vector<nb::object>& values) const;

  nb::object type_;
  std::vector<nb::object> keys_;
  /// The fields that no key sets.
  std::vector<nb::object> unset_;
  nb::object set_item_;
  Way way_ = Way::unknown;
};

}  // namespace modelrun::python
