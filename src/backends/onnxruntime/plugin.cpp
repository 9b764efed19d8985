// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "backends/common/plugin_table.h"
#include "backends/onnxruntime/device.h"
#include "backends/onnxruntime/options.h"
#include "backends/onnxruntime/request.h"
#include "backends/onnxruntime/runtime.h"
#include "backends/onnxruntime/session.h"

namespace modelrun::onnxruntime {
namespace {

class Plugin {
 public:
  static constexpr const char* kName = "onnxruntime";
  using Request = onnxruntime::Request;

  explicit Plugin(const modelrun_host& host) : runtime_(Runtime::open(host)) {}

  [[nodiscard]] nlohmann::json describe() const {
    return {{"runtime", kName},
            {"version", runtime_->version()},
            {"library", runtime_->path()},
            {"formats", {"onnx"}},
            {"devices", device_names()},
            {"providers", runtime_->providers()},
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
}  // namespace modelrun::onnxruntime

MODELRUN_PLUGIN_ENTRY(modelrun::onnxruntime::Plugin)
