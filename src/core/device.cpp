// SPDX-License-Identifier: Apache-2.0
#include "modelrun/device.h"

#include <array>
#include <charconv>

#include "modelrun/error.h"

namespace modelrun {
namespace {

constexpr std::array<std::string_view, 5> kNames{"cpu", "cuda", "xpu", "npu",
                                                 "auto"};

}  // namespace

Device Device::from_string(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  int index = 0;
  bool valid = true;
  if (colon != std::string_view::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] =
        std::from_chars(text.data() + colon + 1, end, index);
    valid = error == std::errc() && stop == end && index >= 0;
  }
  for (std::size_t i = 0; valid && i < kNames.size(); ++i) {
    if (kNames[i] == type) return {static_cast<DeviceType>(i), index};
  }
  throw InvalidArgument("unknown device '" + std::string(text) +
                        "': expected cpu, cuda, xpu, npu or auto, with an "
                        "index where there are several, such as cuda:1");
}

std::string to_string(const Device& device) {
  std::string text(kNames[static_cast<std::size_t>(device.type)]);
  if (device.index != 0) text += ":" + std::to_string(device.index);
  return text;
}

}  // namespace modelrun
