// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/device.h"

#include <algorithm>

namespace modelrun::openvino {
namespace {

/// The `"xpu:1"` of `"GPU.1"`; a single GPU is only `"GPU"`.
std::string name_of(const std::string& openvino_name) {
  if (openvino_name == "CPU") return "cpu";
  if (openvino_name == "NPU") return "npu";
  if (openvino_name == "GPU") return "xpu:0";
  if (openvino_name.starts_with("GPU."))
    return "xpu:" + openvino_name.substr(4);
  return openvino_name;
}

std::string names_of(const std::vector<Device>& devices) {
  std::string names;
  for (const Device& device : devices) {
    names.append(names.empty() ? "" : ", ").append(device.name);
  }
  return names;
}

const Device& first_choice(const std::vector<Device>& devices) {
  const auto gpu = std::find_if(
      devices.begin(), devices.end(),
      [](const Device& device) { return device.name.starts_with("xpu"); });
  return gpu == devices.end() ? devices.front() : *gpu;
}

}  // namespace

std::vector<Device> available_devices(const Runtime& runtime) {
  std::vector<Device> devices;
  call(MODELRUN_BACKEND_ERROR, "listing the devices", [&] {
    for (const std::string& each : runtime.core().get_available_devices()) {
      devices.push_back({name_of(each), each});
    }
  });
  return devices;
}

Device find_device(const Runtime& runtime, const std::string& asked) {
  const std::vector<Device> devices = available_devices(runtime);
  if (asked == "auto" && !devices.empty()) return first_choice(devices);
  for (const Device& device : devices) {
    if (device.name == asked || device.name == asked + ":0") return device;
  }
  throw Failure(MODELRUN_UNSUPPORTED,
                "openvino option 'device': cannot run on '" + asked +
                    "', expected one of: " + names_of(devices) +
                    ", auto (those that OpenVINO " + runtime.version() +
                    " at '" + runtime.path() + "' finds on this machine)");
}

}  // namespace modelrun::openvino
