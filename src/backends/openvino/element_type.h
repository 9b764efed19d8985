// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <openvino/core/type/element_type.hpp>
#include <optional>
#include <string>

namespace modelrun::openvino {

/// The DLPack type of an OpenVINO one; nothing for strings, 8-bit floats and
/// types of 1 to 3 bits.
[[nodiscard]] std::optional<DLDataType> to_dlpack(
    const ov::element::Type& type) noexcept;

/// The OpenVINO type of a DLPack one.
[[nodiscard]] std::optional<ov::element::Type> to_openvino(
    DLDataType type) noexcept;

/// As users know it, `"float32"`; OpenVINO's own word where there is none.
[[nodiscard]] std::string type_name(const ov::element::Type& type);

}  // namespace modelrun::openvino
