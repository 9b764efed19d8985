// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "backends/common/plugin_table.h"
#include "backends/torch/boundary.h"
#include "backends/torch/options.h"
#include "backends/torch/request.h"
#include "backends/torch/runtime.h"
#include "backends/torch/session.h"

namespace modelrun::torch {
namespace {

class Plugin {
 public:
  static constexpr const char* kName = "torch";
  using Request = torch::Request;

  explicit Plugin(const modelrun_host& host)
      : library_(host.runtime_path == nullptr ? "" : host.runtime_path) {
    check_runtime();
  }

  [[nodiscard]] nlohmann::json describe() const {
    return {{"runtime", kName},          {"version", built_for()},
            {"library", library_},       {"formats", {"dynamo"}},
            {"devices", device_names()}, {"options", option_keys()}};
  }

  [[nodiscard]] std::shared_ptr<const Session> open(const char* path,
                                                    const char* options) const {
    return std::make_shared<const Session>(path, parse_options(options));
  }

 private:
  std::string library_;
};

}  // namespace
}  // namespace modelrun::torch

MODELRUN_PLUGIN_ENTRY(modelrun::torch::Plugin,
                      modelrun::torch::report_exception)
