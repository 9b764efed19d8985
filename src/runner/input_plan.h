// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/symbolic_dim.h"
#include "backend/backend.h"
#include "modelrun/dtype.h"
#include "modelrun/structure.h"
#include "modelrun/tensor.h"

namespace modelrun {

/// An input that the program reads, or a state that it starts from, by the
/// path that its caller knows.
struct InputSlot {
  /// MODELRUN_INPUT or MODELRUN_STATE.
  modelrun_port_kind kind = MODELRUN_INPUT;
  /// The port's index among those of its kind.
  std::size_t port = 0;
  /// A kwarg's name, or a leaf's dotted path below one.
  std::string path;
  DType dtype = DType::float32;
  bool ranked = true;
  std::vector<SymbolicDim> dims;
  /// Values must be 0..rows-1: they index an embedding of so many rows.
  std::optional<std::int64_t> rows;
  /// What every call gives: a number that is part of the program, which lists
  /// an input for it all the same. Undefined for all other inputs.
  Tensor constant;
};

/// An input, by its name in the program, and the rows that it indexes.
struct IndexedRows {
  std::string input;
  std::int64_t rows = 0;
};

/// What is known of one kwarg.
struct KwargPlan {
  std::string name;
  /// What was traced under it; null when unrecorded.
  const Structure* spec = nullptr;
  /// The input that the kwarg itself is. Without one, its leaves are inputs, or
  /// the program does not read it.
  std::optional<std::size_t> slot;
  /// The value that is part of the program.
  std::optional<Scalar> constant;
  /// Recorded as a mapping, a ModelOutput such as `encoder_outputs`: leaves of
  /// it that were not traced are dropped, as such kwargs are.
  bool is_mapping = false;
};

/// Slots that were recorded with one full shape when the model was traced.
using RecordedAlike = std::vector<std::size_t>;

/// How kwargs become program inputs: made once, when a program is loaded.
class InputPlan {
 public:
  /// `metadata` is null for a program that no manifest describes: there each
  /// input is a kwarg of its own.
  InputPlan(const Signature& signature, const Metadata* metadata,
            std::span<const IndexedRows> indexed_rows = {});
  InputPlan(const InputPlan&) = delete;
  InputPlan& operator=(const InputPlan&) = delete;

  [[nodiscard]] const std::vector<InputSlot>& slots() const noexcept {
    return slots_;
  }
  [[nodiscard]] const std::vector<KwargPlan>& kwargs() const noexcept {
    return kwargs_;
  }
  [[nodiscard]] const std::vector<RecordedAlike>& recorded_alike()
      const noexcept {
    return recorded_alike_;
  }
  [[nodiscard]] const SymbolTable& symbols() const noexcept { return symbols_; }
  /// Shared with the output plan, whose dimensions use the same symbols.
  [[nodiscard]] SymbolTable& symbols() noexcept { return symbols_; }
  /// Whether a dimension is an expression of symbols.
  [[nodiscard]] bool has_expressions() const noexcept {
    return has_expressions_;
  }

  /// Null when there is no such kwarg.
  [[nodiscard]] const KwargPlan* find_kwarg(
      std::string_view name) const noexcept;
  /// Whether something was traced under a path: a leaf that the program does
  /// not read, or a constant of a cache.
  [[nodiscard]] bool has_path(std::string_view path) const noexcept;
  /// The slot of a path.
  [[nodiscard]] std::optional<std::size_t> find_slot(
      std::string_view path) const noexcept;
  /// The names of all kwargs, for messages.
  [[nodiscard]] std::vector<std::string> kwarg_names() const;

 private:
  struct Named {
    std::string_view name;
    std::size_t index;
  };

  void add_slots(modelrun_port_kind kind, const std::vector<Port>& ports,
                 std::span<const IndexedRows> indexed_rows);
  [[nodiscard]] std::string path_of(const Port& port) const;
  void add_kwargs(const Metadata* metadata);
  void add_recorded_alike(const Metadata& metadata);
  void index_names();
  static std::optional<std::size_t> find(const std::vector<Named>& sorted,
                                         std::string_view name) noexcept;

  std::vector<InputSlot> slots_;
  std::vector<KwargPlan> kwargs_;
  std::vector<RecordedAlike> recorded_alike_;
  SymbolTable symbols_;
  std::vector<Named> slots_by_path_;
  std::vector<Named> kwargs_by_name_;
  std::shared_ptr<const Structure> in_spec_;
  /// The paths of the leaves of `in_spec_`, by their numbers.
  std::vector<std::string> leaf_paths_;
  bool has_expressions_ = false;
};

/// What a slot takes, as text: `"int64[s72, 8]"`.
[[nodiscard]] std::string to_string(const InputSlot& slot);

/// The dimensions of a port, with unnamed dynamic axes as symbols of their own.
[[nodiscard]] std::vector<SymbolicDim> symbolic_dims(const Port& port,
                                                     SymbolTable& symbols);

}  // namespace modelrun
