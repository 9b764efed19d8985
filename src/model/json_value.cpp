// SPDX-License-Identifier: Apache-2.0
#include "model/json_value.h"

#include <memory>
#include <utility>
#include <vector>

#include "artifact/json_text.h"

namespace modelrun {
namespace {

// `parse_json` has limited the depth.
Structure structure_of(const Json& json, const std::string& what) {
  if (json.is_object()) {
    std::vector<Structure::Entry> entries;
    for (const auto& [key, value] : json.items()) {
      entries.push_back({key, structure_of(value, what)});
    }
    return Structure::dict(std::move(entries));
  }
  if (json.is_array()) {
    std::vector<Structure> items;
    for (const Json& item : json) items.push_back(structure_of(item, what));
    return Structure::list(std::move(items));
  }
  return Structure::constant(json_scalar(json, what));
}

}  // namespace

Value value_from_json(std::string_view text, const std::string& what) {
  if (text.empty()) return {};
  return {std::make_shared<const Structure>(
              structure_of(parse_json(text, what), what)),
          std::vector<Tensor>{}};
}

}  // namespace modelrun
