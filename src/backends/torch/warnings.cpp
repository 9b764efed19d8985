// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/warnings.h"

#include "backends/common/log_hosts.h"

namespace modelrun::torch {
namespace {

class Handler : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    plugin::log_to_host(MODELRUN_LOG_WARNING, warning.msg());
  }
};

/// Never destroyed: a thread may warn while the process ends.
Handler* handler() {
  static auto* instance = new Handler;
  return instance;
}

}  // namespace

WarningsToHost::WarningsToHost() : guard_(handler()) {}

}  // namespace modelrun::torch
