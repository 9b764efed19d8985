// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "modelrun/structure.h"

namespace modelrun {

/// A copy of a tree with each leaf, in the tree's order, replaced by what
/// `map(leaf)` returns.
template <typename Map>
[[nodiscard]] Structure map_leaves(const Structure& node, Map&& map) {
  using Kind = Structure::Kind;
  if (node.is_leaf()) return map(node);
  if (node.is_constant()) return Structure::constant(node.value());
  if (node.kind() == Kind::tuple || node.kind() == Kind::list) {
    std::vector<Structure> items;
    for (std::size_t i = 0; i < node.size(); ++i) {
      items.push_back(map_leaves(node.child(i), map));
    }
    return node.kind() == Kind::tuple
               ? Structure::tuple(std::move(items), node.class_name())
               : Structure::list(std::move(items), node.class_name());
  }
  std::vector<Structure::Entry> entries;
  for (std::size_t i = 0; i < node.size(); ++i) {
    entries.push_back({node.key(i), map_leaves(node.child(i), map)});
  }
  return node.kind() == Kind::dict
             ? Structure::dict(std::move(entries), node.class_name())
             : Structure::object(node.class_name(), std::move(entries));
}

}  // namespace modelrun
