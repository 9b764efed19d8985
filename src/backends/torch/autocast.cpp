// SPDX-License-Identifier: Apache-2.0
#include <ATen/autocast_mode.h>

#include <utility>

#include "backends/torch/interpreter.h"
#include "backends/torch/node_values.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

/// The device, dtype and two flags that come before the operands.
constexpr std::size_t kSettings = 4;

/// Autocast as the settings say, until it goes out of scope.
class AutocastGuard {
 public:
  AutocastGuard(c10::DeviceType device, const c10::IValue& dtype, bool enabled,
                bool caches)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        dtype_(at::autocast::get_autocast_dtype(device)),
        cached_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_enabled(device, enabled);
    if (!dtype.isNone()) {
      at::autocast::set_autocast_dtype(
          device, static_cast<c10::ScalarType>(dtype.toInt()));
    }
    at::autocast::set_autocast_cache_enabled(caches);
    at::autocast::increment_nesting();
  }
  ~AutocastGuard() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, dtype_);
    at::autocast::set_autocast_cache_enabled(cached_);
  }
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  c10::DeviceType device_;
  bool was_enabled_;
  c10::ScalarType dtype_;
  bool cached_;
};

}  // namespace

void Interpreter::run_autocast(const Node& node, Values& values) {
  if (node.arguments.size() < kSettings) {
    throw InvalidArgument("it has fewer settings than autocast takes");
  }
  const auto setting = [&](std::size_t index) -> const c10::IValue& {
    return value_of(node.arguments[index].element, values);
  };
  const auto caches = setting(3);
  const AutocastGuard guard(c10::Device(setting(0).toStringRef()).type(),
                            setting(1), setting(2).toBool(),
                            caches.isNone() || caches.toBool());
  store(node, call(*node.graphs[0], operands(node, kSettings, values)), values);
}

}  // namespace modelrun::torch
