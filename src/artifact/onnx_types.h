// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "modelrun/dtype.h"

namespace modelrun {

/// A number of ONNX's `TensorProto.DataType`.
struct OnnxElement {
  std::string_view name;
  /// 0 for strings, which have no size of their own.
  unsigned bits = 0;
  std::optional<DType> dtype;
};

/// What a number stands for; null for a number that ONNX does not have.
[[nodiscard]] const OnnxElement* onnx_element(std::int64_t number) noexcept;

}  // namespace modelrun
