// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modelrun/value.h"
#include "python.h"
#include "tensor_input.h"

namespace modelrun::python {

/// Turns Python objects into the values that a call takes, by their structure:
/// arrays, numbers and strings, lists of numbers, and nests of them: lists,
/// tuples, mappings, and objects by their attributes (caches of any class).
///
/// It remembers the structures that each kwarg had, so that the next value of
/// the same structure is the same structure, which is then matched with the
/// program's inputs no more. Needs the GIL.
class ObjectReader {
 public:
  /// `seen` becomes the framework of the arrays within. Throws InvalidType,
  /// which names the kwarg.
  Value read(std::string_view name, PyObject* object, Framework& seen);

 private:
  using Structures = std::vector<std::shared_ptr<const Structure>>;
  static constexpr std::size_t kKept = 4;

  Value read_nest(std::string_view name, PyObject* object, Framework& seen);
  /// A value of a structure that this kwarg had before.
  std::optional<Value> read_known(std::string_view name, PyObject* object,
                                  Framework& seen) const;

  std::map<std::string, Structures, std::less<>> known_;
};

/// The scalar that a Python object is; empty for other objects.
[[nodiscard]] std::optional<Scalar> read_scalar(PyObject* object);

}  // namespace modelrun::python
