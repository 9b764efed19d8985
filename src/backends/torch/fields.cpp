// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/fields.h"

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun::torch {

const Json& member(const Json& object, const char* key) {
  const Json* found = json_find(json_object(object, key), key);
  if (found == nullptr) {
    throw InvalidArgument("field '" + std::string(key) + "' is missing");
  }
  return *found;
}

const Json* optional_member(const Json& object, const char* key) {
  const Json* found = json_find(json_object(object, key), key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

Tagged tagged(const Json& value, const char* what) {
  const Json::object_t& object = json_object(value, what);
  if (object.size() != 1) {
    throw InvalidArgument(std::string(what) +
                          ": expected an object of one "
                          "key, got one of " +
                          std::to_string(object.size()));
  }
  return {object.begin()->first, object.begin()->second};
}

const std::string& text_of(const Json& object, const char* key) {
  return json_string(member(object, key), key);
}

const Json::array_t& list_of(const Json& object, const char* key) {
  return json_array(member(object, key), key);
}

std::vector<std::int64_t> sizes_of(const Json& object, const char* key) {
  std::vector<std::int64_t> sizes;
  for (const Json& size : list_of(object, key)) {
    const std::int64_t value = json_integer(member(size, "as_int"), key);
    if (value < 0) {
      throw InvalidArgument("field '" + std::string(key) +
                            "': expected numbers of 0 or more, got " +
                            std::to_string(value));
    }
    sizes.push_back(value);
  }
  return sizes;
}

}  // namespace modelrun::torch
