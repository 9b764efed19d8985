// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "backends/common/plugin_table.h"
#include "backends/openvino/device.h"
#include "backends/openvino/options.h"
#include "backends/openvino/request.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/session.h"

namespace modelrun::openvino {
namespace {

class Plugin {
 public:
  static constexpr const char* kName = "openvino";
  using Request = openvino::Request;

  explicit Plugin(const modelrun_host&)
      : runtime_(std::make_shared<const Runtime>()) {}

  [[nodiscard]] nlohmann::json describe() const {
    nlohmann::json devices = nlohmann::json::array();
    for (const auto& device : available_devices(*runtime_)) {
      devices.push_back(device.name);
    }
    return {{"runtime", kName},
            {"version", runtime_->version()},
            {"library", runtime_->path()},
            {"formats", {"openvino", "onnx"}},
            {"devices", std::move(devices)},
            {"options", option_keys()}};
  }

  [[nodiscard]] std::shared_ptr<const Session> open(const char* path,
                                                    const char* options) const {
    return std::make_shared<const Session>(runtime_, path,
                                           parse_options(options));
  }

 private:
  std::shared_ptr<const Runtime> runtime_;
};

}  // namespace
}  // namespace modelrun::openvino

MODELRUN_PLUGIN_ENTRY(modelrun::openvino::Plugin)
