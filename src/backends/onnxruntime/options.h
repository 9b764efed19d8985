// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

namespace modelrun::onnxruntime {

/// What a session is created with.
struct Options {
  std::string device = "cpu";
  /// Threads of one operator.
  int threads = 1;
  GraphOptimizationLevel optimization = ORT_ENABLE_ALL;
  /// A library of operators that no standard defines: code that runs. Only a
  /// caller names it, never a model.
  std::string custom_op_library = {};
};

/// The keys that `parse_options` knows, in alphabetical order.
[[nodiscard]] std::vector<std::string> option_keys();

/// Reads one JSON object (NULL: the defaults); throws Failure on unknown keys
/// and on values of another type.
[[nodiscard]] Options parse_options(const char* json);

}  // namespace modelrun::onnxruntime
