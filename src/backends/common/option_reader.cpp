// SPDX-License-Identifier: Apache-2.0
#include "backends/common/option_reader.h"

#include <cstdint>
#include <utility>

#include "backends/common/failure.h"

namespace modelrun::plugin {
namespace {

using Json = nlohmann::json;

/// More than any machine has; a typing error would start that many threads.
constexpr std::int64_t kMaxThreads = 1024;

}  // namespace

std::string shown_json(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

void refuse_option(const char* plugin, const std::string& key,
                   const std::string& expected, const Json& value) {
  throw Failure(MODELRUN_INVALID_ARGUMENT, std::string(plugin) + " option '" +
                                               key + "': expected " + expected +
                                               ", got " + shown_json(value));
}

void refuse_unknown_option(const char* plugin, const std::string& key,
                           const std::vector<std::string>& known) {
  std::string message = std::string("unknown ") + plugin + " option " +
                        shown_json(Json(key)) + "; known are:";
  const char* separator = " ";
  for (const std::string& each : known) {
    message.append(separator).append(each);
    separator = ", ";
  }
  throw Failure(MODELRUN_INVALID_ARGUMENT, std::move(message));
}

int read_threads(const char* plugin, const Json& value) {
  const auto expected = "an integer from 1 to " + std::to_string(kMaxThreads);
  if (!value.is_number_integer()) {
    refuse_option(plugin, "threads", expected, value);
  }
  // Read unsigned where it is: 2^64 - 1 as a signed number would be -1.
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= kMaxThreads
                        : value.get<std::int64_t>() <= kMaxThreads;
  if (!fits || value.get<std::int64_t>() < 1) {
    refuse_option(plugin, "threads", expected, value);
  }
  return value.get<int>();
}

std::string read_text(const char* plugin, const std::string& key,
                      const Json& value) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    refuse_option(plugin, key, "a text", value);
  }
  return value.get<std::string>();
}

Json parse_option_object(const char* plugin, const char* text) {
  Json object = Json::parse(text == nullptr ? "{}" : text, nullptr,
                            /*allow_exceptions=*/false);
  if (!object.is_object()) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  std::string(plugin) +
                      " options: expected one JSON object, got " +
                      (object.is_discarded() ? "text that is no JSON"
                                             : shown_json(object)));
  }
  return object;
}

}  // namespace modelrun::plugin
