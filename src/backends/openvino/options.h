// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace modelrun::openvino {

/// What a session is created with.
struct Options {
  std::string device = "cpu";
  int threads = 1;
  /// A folder for compiled models; empty for none.
  std::string cache_dir;
  /// Properties of OpenVINO's, as text; they go over everything else.
  std::map<std::string, std::string> config;
  /// Names of repairs that are not made.
  std::set<std::string> skip_repairs;
};

/// The keys that `parse_options` knows, in alphabetical order.
[[nodiscard]] std::vector<std::string> option_keys();

/// Reads one JSON object (NULL: the defaults); throws Failure on unknown keys
/// and on values of another type.
[[nodiscard]] Options parse_options(const char* json);

}  // namespace modelrun::openvino
