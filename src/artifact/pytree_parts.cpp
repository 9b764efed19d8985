// SPDX-License-Identifier: Apache-2.0
#include "artifact/pytree_parts.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

bool is_mapping_class(std::string_view name) {
  return name.starts_with("builtins.") || name.starts_with("collections.");
}

}  // namespace

void NodeBudget::take() {
  if (++taken_ > kLimit) {
    throw InvalidArgument(where_ + ": has more than " + std::to_string(kLimit) +
                          " nodes");
  }
}

std::string dotted(std::string name) {
  std::replace(name.begin(), name.end(), ':', '.');
  return name;
}

std::string below(const std::string& at, std::string_view key) {
  return at + "." + std::string(key.substr(0, 64));
}

Structure::Key to_key(const Json& key, const std::string& where) {
  if (key.is_string()) return key.get<std::string>();
  if (key.is_boolean()) return std::int64_t{key.get<bool>()};
  if (key.is_number_integer()) return json_integer(key, where);
  if (key.is_object() && key.contains("__enum__")) {
    const Json* name = json_find(json_object(key, where), "name");
    if (name != nullptr && name->is_string()) return name->get<std::string>();
  }
  return key.dump();
}

Structure with_keys(std::string class_name,
                    std::vector<Structure::Entry> entries, bool attributes,
                    const std::string& at) {
  std::vector<const Structure::Key*> keys;
  for (const Structure::Entry& entry : entries) keys.push_back(&entry.key);
  const auto less = [](auto* a, auto* b) { return *a < *b; };
  std::sort(keys.begin(), keys.end(), less);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (*keys[i] == *keys[i - 1]) {
      throw InvalidArgument(at + ": has a key twice");
    }
  }
  if (is_mapping_class(class_name) || !attributes) {
    return Structure::dict(std::move(entries), std::move(class_name));
  }
  return Structure::object(std::move(class_name), std::move(entries));
}

}  // namespace modelrun::detail
