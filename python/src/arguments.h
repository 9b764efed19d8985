// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "array_output.h"
#include "modelrun/exported_model.h"
#include "object_reader.h"
#include "python.h"

namespace modelrun::python {

/// The kwargs that a program was traced with; any name when nothing records
/// them.
class TracedKwargs {
 public:
  explicit TracedKwargs(const ExportedModel& model);
  /// Whether the export says what the program takes and returns.
  [[nodiscard]] bool recorded() const noexcept { return !any_; }
  [[nodiscard]] bool contains(std::string_view name) const {
    return any_ || names_.contains(std::string(name));
  }

 private:
  std::unordered_set<std::string> names_;
  bool any_ = false;
};

/// The arguments of one Python call, read. Needs the GIL, and the Python
/// arguments for as long as it lives.
class Arguments {
 public:
  Arguments(ObjectReader& reader, const TracedKwargs& traced)
      : reader_(reader), traced_(traced) {}

  /// Reads `(share_inputs=True, share_outputs=False, **kwargs)`, where a
  /// mapping of kwargs (a BatchEncoding) may come first, too.
  void read(PyObject* args, PyObject* kwargs);
  void add(PyObject* name, PyObject* value);

  [[nodiscard]] Kwargs kwargs() const noexcept { return kwargs_; }
  [[nodiscard]] bool share_inputs() const noexcept { return share_inputs_; }
  [[nodiscard]] bool share_outputs() const noexcept { return share_outputs_; }
  /// What the outputs are to be: what was asked for, or else what the inputs
  /// are.
  [[nodiscard]] Arrays arrays() const;

 private:
  void read_positional(PyObject* args);
  void add_all(PyObject* mapping);
  bool read_option(std::string_view name, PyObject* value);

  ObjectReader& reader_;
  const TracedKwargs& traced_;
  std::vector<Kwarg> kwargs_;
  std::vector<nb::object> held_;
  Framework seen_ = Framework::none;
  std::optional<Arrays> asked_;
  bool share_inputs_ = true;
  bool share_outputs_ = false;
};

}  // namespace modelrun::python
