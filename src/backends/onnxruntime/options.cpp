// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/options.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "backends/onnxruntime/failure.h"
#include "core/usable_cores.h"

namespace modelrun::onnxruntime {
namespace {

using Json = nlohmann::json;

/// More than any machine has; a typing error would start that many threads.
constexpr std::int64_t kMaxThreads = 1024;

constexpr std::array<std::pair<const char*, GraphOptimizationLevel>, 4> kLevels{
    {{"disable", ORT_DISABLE_ALL},
     {"basic", ORT_ENABLE_BASIC},
     {"extended", ORT_ENABLE_EXTENDED},
     {"all", ORT_ENABLE_ALL}}};

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

[[noreturn]] void refuse(const std::string& key, const std::string& expected,
                         const Json& value) {
  throw Failure(MODELRUN_INVALID_ARGUMENT, "onnxruntime option '" + key +
                                               "': expected " + expected +
                                               ", got " + shown(value));
}

void read_device(Options& options, const Json& value) {
  if (!value.is_string()) refuse("device", "a string such as \"cpu\"", value);
  options.device = value.get<std::string>();
}

void read_threads(Options& options, const Json& value) {
  const auto expected = "an integer from 1 to " + std::to_string(kMaxThreads);
  if (!value.is_number_integer()) refuse("threads", expected, value);
  // Read unsigned where it is: 2^64 - 1 as a signed number would be -1.
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= kMaxThreads
                        : value.get<std::int64_t>() <= kMaxThreads;
  if (!fits || value.get<std::int64_t>() < 1) {
    refuse("threads", expected, value);
  }
  options.threads = value.get<int>();
}

void read_optimization(Options& options, const Json& value) {
  for (const auto& [name, level] : kLevels) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) {
      options.optimization = level;
      return;
    }
  }
  refuse("graph_optimization_level",
         R"("disable", "basic", "extended" or "all")", value);
}

void read_custom_op_library(Options& options, const Json& value) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    refuse("custom_op_library", "the path of a shared library", value);
  }
  options.custom_op_library = value.get<std::string>();
}

struct Reader {
  const char* key;
  void (*read)(Options&, const Json&);
};

constexpr std::array kReaders{
    Reader{"custom_op_library", read_custom_op_library},
    Reader{"device", read_device},
    Reader{"graph_optimization_level", read_optimization},
    Reader{"threads", read_threads},
};

void read_option(Options& options, const std::string& key, const Json& value) {
  for (const Reader& reader : kReaders) {
    if (key == reader.key) return reader.read(options, value);
  }
  std::string message =
      "unknown onnxruntime option " + shown(Json(key)) + "; known are:";
  const char* separator = " ";
  for (const std::string& known : option_keys()) {
    message.append(separator).append(known);
    separator = ", ";
  }
  throw Failure(MODELRUN_INVALID_ARGUMENT, std::move(message));
}

}  // namespace

std::vector<std::string> option_keys() {
  std::vector<std::string> keys;
  for (const Reader& reader : kReaders) keys.emplace_back(reader.key);
  return keys;
}

Options parse_options(const char* json) {
  Options options;
  const Json object = Json::parse(json == nullptr ? "{}" : json, nullptr,
                                  /*allow_exceptions=*/false);
  if (!object.is_object()) {
    throw Failure(
        MODELRUN_INVALID_ARGUMENT,
        "onnxruntime options: expected one JSON object, got " +
            (object.is_discarded() ? "text that is no JSON" : shown(object)));
  }
  if (!object.contains("threads")) options.threads = usable_cores();
  for (const auto& [key, value] : object.items()) {
    read_option(options, key, value);
  }
  return options;
}

}  // namespace modelrun::onnxruntime
