// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/options.h"

#include <array>
#include <span>

#include "backends/common/option_reader.h"
#include "core/usable_cores.h"

namespace modelrun::torch {
namespace {

constexpr const char* kPlugin = "torch";

void read_in_constants(Options& options, const nlohmann::json& value) {
  constexpr const char* kExpected =
      "a list of pairs, each of a position and null, a bool, a number or a "
      "text";
  if (!value.is_array()) {
    plugin::refuse_option(kPlugin, "in_constants", kExpected, value);
  }
  for (const nlohmann::json& pair : value) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
        pair[1].is_structured()) {
      plugin::refuse_option(kPlugin, "in_constants", kExpected, pair);
    }
    options.in_constants[pair[0].get<std::size_t>()] = Json(pair[1]);
  }
}

constexpr std::array<plugin::OptionReader<Options>, 4> kReaders{{
    {"allow_native_code",
     [](Options& options, const nlohmann::json& value) {
       if (!value.is_boolean()) {
         plugin::refuse_option(kPlugin, "allow_native_code", "true or false",
                               value);
       }
       options.allow_native_code = value.get<bool>();
     }},
    {"device",
     [](Options& options, const nlohmann::json& value) {
       options.device = plugin::read_text(kPlugin, "device", value);
     }},
    {"in_constants", read_in_constants},
    {"threads",
     [](Options& options, const nlohmann::json& value) {
       options.threads = plugin::read_threads(kPlugin, value);
     }},
}};

std::span<const plugin::OptionReader<Options>> readers() { return kReaders; }

}  // namespace

std::vector<std::string> option_keys() { return plugin::keys_of(readers()); }

Options parse_options(const char* json) {
  Options options;
  const nlohmann::json object = plugin::parse_option_object(kPlugin, json);
  if (!object.contains("threads")) options.threads = usable_cores();
  plugin::read_options(kPlugin, readers(), object, options);
  return options;
}

}  // namespace modelrun::torch
