// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modelrun/backend.h"

namespace modelrun::fake {

/// A port as the script says it; `view` points into the other fields.
struct ScriptPort {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<const char*> alias_pointers;
  DLDataType dtype{};
  /// Nothing when the script says `"dims": null`.
  std::optional<std::vector<std::int64_t>> dims;
  std::vector<std::string> symbols;
  std::vector<const char*> symbol_pointers;
  bool is_number = false;
};

/// Where an output's elements, or a state's next value, come from.
struct Source {
  enum class Kind {
    /// Every byte zero; for a state: what it was.
    nothing,
    /// The bytes and the shape of input `a`.
    input,
    /// The bytes and the shape of state `a`.
    state,
    /// The sum of inputs `a` and `b`, element by element.
    sum,
    /// One element, `bytes`, repeated.
    fill,
    /// All elements, `bytes`, of the port's fixed dims.
    values,
    /// State: itself with input `a` appended along `axis`.
    append,
  };
  Kind kind = Kind::nothing;
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t axis = 0;
  std::vector<std::byte> bytes;
  /// For `nothing` and `fill`: the input and axis that each axis of the output
  /// takes its size from; input -1 for a fixed one.
  struct Size {
    int input = -1;
    std::size_t axis = 0;
    std::int64_t fixed = 0;
  };
  std::vector<Size> sizes;
};

/// Makes one kind of call fail.
struct ScriptFailure {
  /// `"create"`, `"request"`, `"bind"`, `"run"`, `"fetch"`; empty for none.
  std::string at;
  modelrun_status status = MODELRUN_BACKEND_ERROR;
  std::string message;
  /// How many calls fail before they succeed again; -1 for all.
  int times = -1;
};

/// A program of the fake backend, read from JSON:
///
/// ```
/// {"inputs": [{"name": "x", "dtype": "float32", "dims": [-1, 4],
///              "symbols": ["batch", null], "aliases": ["x.0"]}],
///  "states": [{"name": "s", "dtype": "float32", "dims": [-1, 4],
///              "from": "x" | "append": "x", "axis": 0}],
///  "outputs": [{"name": "y", "dtype": "float32", "dims": [-1, 4],
///               "from": "x" | "sum": ["x", "x2"] | "state": "s" |
///               "fill": 1.5 | "values": [1, 2, 3, 4],
///               "number": false}],
///  "options": ["precision"],
///  "fail": {"at": "run", "status": "backend_error", "message": "boom",
///           "times": 1},
///  "delay_ms": 5, "wait_for_cancel": true}
/// ```
///
/// `dims` null leaves the rank open. An output without a source is zeros. A
/// dynamic axis of zeros or of a fill takes its size from an input's axis with
/// the same symbol.
struct Script {
  std::vector<ScriptPort> inputs;
  std::vector<ScriptPort> outputs;
  std::vector<ScriptPort> states;
  std::vector<Source> output_sources;
  std::vector<Source> state_sources;
  /// Keys that `session_create` takes besides the common ones.
  std::vector<std::string> options;
  ScriptFailure failure;
  std::chrono::milliseconds delay{0};
  bool wait_for_cancel = false;
};

/// Reads a program; throws Failure with the file and the field that is wrong.
[[nodiscard]] Script load_script(const char* path);

/// Bytes that `elements` elements of a dtype take.
[[nodiscard]] std::size_t byte_size(DLDataType dtype, std::int64_t elements);

}  // namespace modelrun::fake
