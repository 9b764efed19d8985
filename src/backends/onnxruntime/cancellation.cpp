// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/cancellation.h"

namespace modelrun::onnxruntime {
namespace {

Handle<OrtRunOptions> make_run_options(const Runtime& runtime) {
  OrtRunOptions* options = nullptr;
  runtime.check(runtime.api().CreateRunOptions(&options),
                "creating run options");
  return {options, runtime.api().ReleaseRunOptions};
}

}  // namespace

Cancellation::Cancellation(const Runtime& runtime)
    : runtime_(runtime), options_(make_run_options(runtime)) {}

void Cancellation::begin_run() {
  const std::lock_guard lock(mutex_);
  running_ = true;
}

bool Cancellation::end_run() {
  const std::lock_guard lock(mutex_);
  running_ = false;
  if (!cancelled_) return false;
  runtime_.check(runtime_.api().RunOptionsUnsetTerminate(options_.get()),
                 "resetting the terminate flag");
  cancelled_ = false;
  return true;
}

void Cancellation::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  if (!running_ || cancelled_) return;
  const OrtApi& api = runtime_.api();
  if (OrtStatus* status = api.RunOptionsSetTerminate(options_.get())) {
    api.ReleaseStatus(status);
    return;
  }
  cancelled_ = true;
}

}  // namespace modelrun::onnxruntime
