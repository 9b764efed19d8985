// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/options.h"

#include <array>

#include "backends/common/option_reader.h"
#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

using Json = nlohmann::json;

constexpr const char* kPlugin = "executorch";

void read_device(Options&, const Json& value) {
  if (plugin::read_text(kPlugin, "device", value) == "cpu") return;
  throw Failure(MODELRUN_UNSUPPORTED,
                "executorch option 'device': cannot run on " +
                    plugin::shown_json(value) +
                    ", expected \"cpu\": a program runs where it was lowered "
                    "for, and this plugin opens the delegates of the CPU");
}

void read_threads(Options& options, const Json& value) {
  options.threads = plugin::read_threads(kPlugin, value);
}

void read_in_constants(Options& options, const Json& value) {
  const auto refuse = [&] {
    plugin::refuse_option(kPlugin, "in_constants",
                          "a list of [position, value]", value);
  };
  if (!value.is_array()) refuse();
  for (const Json& entry : value) {
    const bool is_pair = entry.is_array() && entry.size() == 2 &&
                         entry[0].is_number_unsigned() &&
                         !entry[1].is_structured();
    if (!is_pair) refuse();
    options.in_constants.emplace_back(entry[0].get<std::size_t>(), entry[1]);
  }
}

using Reader = plugin::OptionReader<Options>;

constexpr std::array kReaders{
    Reader{"device", read_device},
    Reader{"in_constants", read_in_constants},
    Reader{"threads", read_threads},
};

}  // namespace

std::vector<std::string> option_keys() {
  return plugin::keys_of<Options>(kReaders);
}

Options parse_options(const char* json) {
  Options options;
  plugin::read_options<Options>(
      kPlugin, kReaders, plugin::parse_option_object(kPlugin, json), options);
  return options;
}

}  // namespace modelrun::executorch
