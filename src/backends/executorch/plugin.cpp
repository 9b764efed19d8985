// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "backends/common/plugin_table.h"
#include "backends/executorch/options.h"
#include "backends/executorch/request.h"
#include "backends/executorch/runtime.h"
#include "backends/executorch/session.h"

namespace modelrun::executorch {
namespace {

class Plugin {
 public:
  static constexpr const char* kName = "executorch";
  /// A method cannot be interrupted, so a request has no `cancel`.
  using Request = executorch::Request;

  explicit Plugin(const modelrun_host& host) : runtime_(Runtime::open(host)) {}

  [[nodiscard]] nlohmann::json describe() const {
    return {{"runtime", kName},
            {"version", runtime_->version()},
            {"library", runtime_->path()},
            {"formats", {kName}},
            {"devices", {"cpu"}},
            {"delegates", runtime_->delegates()},
            {"options", option_keys()}};
  }

  [[nodiscard]] std::shared_ptr<const Session> open(const char* path,
                                                    const char* options) const {
    return std::make_shared<const Session>(runtime_, path,
                                           parse_options(options));
  }

 private:
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace
}  // namespace modelrun::executorch

MODELRUN_PLUGIN_ENTRY(modelrun::executorch::Plugin)
