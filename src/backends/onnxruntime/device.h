// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

namespace modelrun::onnxruntime {

class Runtime;

/// The names of the devices that sessions can be created for.
[[nodiscard]] std::vector<std::string> device_names();

/// Makes `options` create a session for `device` and for no other; returns the
/// name of its execution provider. Throws Failure when this plugin or this
/// build of the runtime does not have the device.
[[nodiscard]] std::string use_device(const Runtime& runtime,
                                     const std::string& device,
                                     OrtSessionOptions* options);

}  // namespace modelrun::onnxruntime
