// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <onnxruntime_c_api.h>

#include <optional>
#include <string>

namespace modelrun::onnxruntime {

/// The DLPack type of an ONNX one; nothing for strings, complex numbers and
/// 8-bit floats.
[[nodiscard]] std::optional<DLDataType> to_dlpack(
    ONNXTensorElementDataType type) noexcept;

/// The ONNX type of a DLPack one.
[[nodiscard]] std::optional<ONNXTensorElementDataType> to_onnx(
    DLDataType type) noexcept;

/// The word that ONNX has for it: `"string"`, `"float8e5m2"`.
[[nodiscard]] std::string onnx_name(ONNXTensorElementDataType type);

}  // namespace modelrun::onnxruntime
