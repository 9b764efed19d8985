// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "artifact/json_text.h"

namespace modelrun::torch {

/// One step of a way into a pytree: a key, or an index.
struct LeafStep {
  std::string key;
  std::optional<std::int64_t> index;
};

/// Finds leaves of a recorded `in_spec` by the ways that guards write:
/// `L['past_key_values'][0]`.
class LeafLookup {
 public:
  /// `argument_names` are those of the positional arguments.
  LeafLookup(const std::string& in_spec,
             std::vector<std::string> argument_names);

  /// The number of the leaf; nothing when the way ends elsewhere.
  [[nodiscard]] std::optional<std::size_t> find(
      const std::vector<LeafStep>& way) const;

 private:
  Json args_;
  Json kwargs_;
  std::vector<std::string> argument_names_;
};

}  // namespace modelrun::torch
