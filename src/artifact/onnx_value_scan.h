// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "artifact/onnx_program.h"

namespace modelrun {

/// Reads a ValueInfoProto. Throws WireError.
[[nodiscard]] OnnxValue scan_onnx_value(std::span<const std::uint8_t> message);

}  // namespace modelrun
