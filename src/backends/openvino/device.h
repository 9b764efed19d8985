// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backends/openvino/runtime.h"

namespace modelrun::openvino {

struct Device {
  /// As users type it: `"cpu"`, `"xpu:0"`.
  std::string name;
  /// As OpenVINO does: `"CPU"`, `"GPU.0"`.
  std::string openvino_name;
};

/// The devices that this machine has.
[[nodiscard]] std::vector<Device> available_devices(const Runtime& runtime);

/// The device that `asked` (`"cpu"`, `"xpu"`, `"xpu:1"`, `"npu"`, `"auto"`)
/// means; `"auto"` is the first accelerator there is, or else the CPU. Throws
/// Failure, with those there are, on one that is not there.
[[nodiscard]] Device find_device(const Runtime& runtime,
                                 const std::string& asked);

}  // namespace modelrun::openvino
