// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/device.h"

#include <array>
#include <cstddef>

#include "backends/onnxruntime/runtime.h"

namespace modelrun::onnxruntime {
namespace {

/// How a device's provider is added to a session.
struct Provider {
  const char* device;
  const char* name;
  void (*append)(const Runtime& runtime, OrtSessionOptions* options);
};

/// The CPU provider is in every session, and last.
void append_nothing(const Runtime&, OrtSessionOptions*) {}

constexpr std::array kProviders{
    Provider{"cpu", "CPUExecutionProvider", append_nothing},
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

}  // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Provider& provider : kProviders) {
    names.emplace_back(provider.device);
  }
  return names;
}

std::string use_device(const Runtime& runtime, const std::string& device,
                       OrtSessionOptions* options) {
  for (const Provider& provider : kProviders) {
    if (device == provider.device) {
      provider.append(runtime, options);
      return provider.name;
    }
  }
  throw Failure(MODELRUN_UNSUPPORTED,
                "onnxruntime option 'device': cannot run on '" + device +
                    "', expected one of: " + joined(device_names()) +
                    " (ONNX Runtime " + runtime.version() + " at '" +
                    runtime.path() +
                    "' was built with: " + joined(runtime.providers()) + ")");
}

}  // namespace modelrun::onnxruntime
