// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/json_text.h"
#include "modelrun/structure.h"

namespace modelrun::detail {

/// Counts the nodes of one spec; throws InvalidArgument past the limit.
class NodeBudget {
 public:
  /// `where` is what the message calls the spec.
  explicit NodeBudget(std::string where) : where_(std::move(where)) {}
  void take();

 private:
  static constexpr std::size_t kLimit = std::size_t{1} << 18;

  std::string where_;
  std::size_t taken_ = 0;
};

/// "module:Class" and "module.Class" are the same class.
[[nodiscard]] std::string dotted(std::string name);

/// A path for messages. A key of any length adds a little only, so that paths
/// cost nothing to speak of.
[[nodiscard]] std::string below(const std::string& at, std::string_view key);

/// A dict's key: what is neither a string nor an integer by its JSON text.
[[nodiscard]] Structure::Key to_key(const Json& key, const std::string& where);

/// A dict, when the class is a mapping of Python's own or when the keys are
/// not attributes; else an object. Throws InvalidArgument for a key twice.
[[nodiscard]] Structure with_keys(std::string class_name,
                                  std::vector<Structure::Entry> entries,
                                  bool attributes, const std::string& at);

}  // namespace modelrun::detail
