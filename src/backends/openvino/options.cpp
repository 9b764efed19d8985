// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/options.h"

#include <algorithm>
#include <array>

#include "backends/common/option_reader.h"
#include "backends/openvino/repairs.h"
#include "core/usable_cores.h"

namespace modelrun::openvino {
namespace {

using Json = nlohmann::json;
using plugin::OptionReader;

constexpr const char* kPlugin = "openvino";

void read_cache_dir(Options& options, const Json& value) {
  options.cache_dir = plugin::read_text(kPlugin, "cache_dir", value);
}

void read_device(Options& options, const Json& value) {
  options.device = plugin::read_text(kPlugin, "device", value);
}

void read_threads(Options& options, const Json& value) {
  options.threads = plugin::read_threads(kPlugin, value);
}

/// OpenVINO reads every property from text.
std::string property_text(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "YES" : "NO";
  if (value.is_number()) return value.dump();
  plugin::refuse_option(kPlugin, "config." + key,
                        "a text, a number, true or false", value);
}

void read_config(Options& options, const Json& value) {
  if (!value.is_object()) {
    plugin::refuse_option(kPlugin, "config", "an object of OpenVINO properties",
                          value);
  }
  for (const auto& [key, property] : value.items()) {
    options.config[key] = property_text(key, property);
  }
}

void read_skip_repairs(Options& options, const Json& value) {
  const std::vector<std::string> known = repair_names();
  const auto is_known = [&](const Json& name) {
    return name.is_string() &&
           std::find(known.begin(), known.end(),
                     name.get_ref<const std::string&>()) != known.end();
  };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_known)) {
    plugin::refuse_option(kPlugin, "skip_repairs",
                          "a list of these: " + Json(known).dump(), value);
  }
  for (const Json& name : value) {
    options.skip_repairs.insert(name.get<std::string>());
  }
}

constexpr std::array kReaders{
    OptionReader<Options>{"cache_dir", read_cache_dir},
    OptionReader<Options>{"config", read_config},
    OptionReader<Options>{"device", read_device},
    OptionReader<Options>{"skip_repairs", read_skip_repairs},
    OptionReader<Options>{"threads", read_threads},
};

}  // namespace

std::vector<std::string> option_keys() {
  return plugin::keys_of<Options>(kReaders);
}

Options parse_options(const char* json) {
  Options options;
  const Json object = plugin::parse_option_object(kPlugin, json);
  if (!object.contains("threads")) options.threads = usable_cores();
  plugin::read_options<Options>(kPlugin, kReaders, object, options);
  return options;
}

}  // namespace modelrun::openvino
