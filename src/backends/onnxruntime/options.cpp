// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/options.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "backends/common/option_reader.h"
#include "core/usable_cores.h"

namespace modelrun::onnxruntime {
namespace {

using Json = nlohmann::json;

constexpr const char* kPlugin = "onnxruntime";

constexpr std::array<std::pair<const char*, GraphOptimizationLevel>, 4> kLevels{
    {{"disable", ORT_DISABLE_ALL},
     {"basic", ORT_ENABLE_BASIC},
     {"extended", ORT_ENABLE_EXTENDED},
     {"all", ORT_ENABLE_ALL}}};

void read_device(Options& options, const Json& value) {
  options.device = plugin::read_text(kPlugin, "device", value);
}

void read_threads(Options& options, const Json& value) {
  options.threads = plugin::read_threads(kPlugin, value);
}

void read_optimization(Options& options, const Json& value) {
  for (const auto& [name, level] : kLevels) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) {
      options.optimization = level;
      return;
    }
  }
  plugin::refuse_option(kPlugin, "graph_optimization_level",
                        R"("disable", "basic", "extended" or "all")", value);
}

void read_custom_op_library(Options& options, const Json& value) {
  options.custom_op_library =
      plugin::read_text(kPlugin, "custom_op_library", value);
}

using Reader = plugin::OptionReader<Options>;

constexpr std::array kReaders{
    Reader{"custom_op_library", read_custom_op_library},
    Reader{"device", read_device},
    Reader{"graph_optimization_level", read_optimization},
    Reader{"threads", read_threads},
};

}  // namespace

std::vector<std::string> option_keys() {
  return plugin::keys_of(std::span<const Reader>(kReaders));
}

Options parse_options(const char* json) {
  Options options;
  const Json object = plugin::parse_option_object(kPlugin, json);
  if (!object.contains("threads")) options.threads = usable_cores();
  plugin::read_options(kPlugin, std::span<const Reader>(kReaders), object,
                       options);
  return options;
}

}  // namespace modelrun::onnxruntime
