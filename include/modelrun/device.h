// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace modelrun {

/// The kinds of device, by the names that torch and OpenVINO users type.
///
/// `automatic` leaves the choice to a runtime that has one (OpenVINO's AUTO).
enum class DeviceType : std::uint8_t { cpu, cuda, xpu, npu, automatic };

/// Where a tensor lives or a program runs.
struct Device {
  DeviceType type = DeviceType::cpu;
  int index = 0;

  constexpr Device() = default;
  constexpr Device(DeviceType device_type, int device_index = 0)
      : type(device_type), index(device_index) {}

  /// Reads `"cpu"`, `"cuda"`, `"cuda:1"`, `"xpu:0"`, `"npu"`, `"auto"`;
  /// throws InvalidArgument on anything else.
  static Device from_string(std::string_view text);

  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// The name that users type: `"cpu"`, `"cuda:1"`, `"auto"`.
[[nodiscard]] std::string to_string(const Device& device);

}  // namespace modelrun
