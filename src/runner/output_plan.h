// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/symbolic_dim.h"
#include "backend/backend.h"
#include "modelrun/structure.h"

namespace modelrun {

/// How program outputs become the model's outputs: made once, when a program is
/// loaded.
class OutputPlan {
 public:
  /// One tensor leaf of the outputs.
  struct Slot {
    /// MODELRUN_OUTPUT, or MODELRUN_STATE for a leaf that the program keeps.
    modelrun_port_kind kind = MODELRUN_OUTPUT;
    /// The port's index among those of its kind.
    std::size_t port = 0;
    std::string name;
    bool ranked = true;
    std::vector<SymbolicDim> dims;
  };

  /// `metadata` is null for a program that no manifest describes: there the
  /// outputs are a dict by their names. The outputs of a program are the last
  /// ones, in order; those of a program with state go by their names, and what
  /// it lacks is in its state. `symbols` are those of the inputs. Throws
  /// InvalidArgument when the program has fewer outputs than recorded.
  OutputPlan(const Signature& signature, const Metadata* metadata,
             SymbolTable& symbols);

  /// By the leaf index of the structure.
  [[nodiscard]] const std::vector<Slot>& slots() const noexcept {
    return slots_;
  }
  [[nodiscard]] const std::shared_ptr<const Structure>& structure()
      const noexcept {
    return structure_;
  }

  /// Whether the shape of an output follows from the inputs' shapes, and is
  /// `shape` for these values of the symbols.
  [[nodiscard]] bool has_shape(std::size_t slot,
                               std::span<const std::int64_t> symbol_values,
                               const Shape& shape) const;

 private:
  void match_last(const Signature& signature, SymbolTable& symbols);
  void match_names(const Signature& signature, SymbolTable& symbols);
  void add_slot(modelrun_port_kind kind, std::size_t index, const Port& port,
                SymbolTable& symbols);

  std::vector<Slot> slots_;
  std::shared_ptr<const Structure> structure_;
};

}  // namespace modelrun
