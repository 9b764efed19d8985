// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "artifact/json_text.h"

namespace modelrun::torch {

/// What a session is created with.
struct Options {
  std::string device = "cpu";
  /// Threads of one operator. Torch has one number for a thread of the
  /// process: it is set while a call runs, and set back after it.
  int threads = 1;
  /// Whether code that came with an archive may be run.
  bool allow_native_code = false;
  /// Values of inputs that take no tensor, by position.
  std::map<std::size_t, Json> in_constants;
};

/// The keys that `parse_options` knows, in alphabetical order.
[[nodiscard]] std::vector<std::string> option_keys();

/// Reads one JSON object (NULL: the defaults); throws plugin::Failure on
/// unknown keys and on values of another type.
[[nodiscard]] Options parse_options(const char* json);

}  // namespace modelrun::torch
