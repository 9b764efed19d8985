// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/runtime.h"

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/headeronly/version.h>

#include <cstdint>

#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

/// One byte each, from the top: major, minor, patch.
std::string shown(std::uint64_t version) {
  return std::to_string(version >> 56) + "." +
         std::to_string(version >> 48 & 0xFF);
}

}  // namespace

std::string built_for() { return shown(TORCH_ABI_VERSION); }

void check_runtime() {
  const std::uint64_t version = aoti_torch_abi_version();
  if (version >> 48 == TORCH_ABI_VERSION >> 48) return;
  throw Unsupported("the torch in this process is " + shown(version) +
                    ", this plugin is built for " + built_for() +
                    ": pip install torch==" + built_for() + ".0");
}

}  // namespace modelrun::torch
