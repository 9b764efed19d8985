// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_types.h"

#include <array>
#include <cstddef>

namespace modelrun {

const OnnxElement* onnx_element(std::int64_t number) noexcept {
  static constexpr std::array<OnnxElement, 27> kElements = {{
      {"undefined", 0, std::nullopt},
      {"float32", 32, DType::float32},
      {"uint8", 8, DType::uint8},
      {"int8", 8, DType::int8},
      {"uint16", 16, DType::uint16},
      {"int16", 16, DType::int16},
      {"int32", 32, DType::int32},
      {"int64", 64, DType::int64},
      {"string", 0, std::nullopt},
      {"bool", 8, DType::bool_},
      {"float16", 16, DType::float16},
      {"float64", 64, DType::float64},
      {"uint32", 32, DType::uint32},
      {"uint64", 64, DType::uint64},
      {"complex64", 64, std::nullopt},
      {"complex128", 128, std::nullopt},
      {"bfloat16", 16, DType::bfloat16},
      {"float8_e4m3fn", 8, std::nullopt},
      {"float8_e4m3fnuz", 8, std::nullopt},
      {"float8_e5m2", 8, std::nullopt},
      {"float8_e5m2fnuz", 8, std::nullopt},
      {"uint4", 4, DType::uint4},
      {"int4", 4, DType::int4},
      {"float4_e2m1", 4, std::nullopt},
      {"float8_e8m0", 8, std::nullopt},
      {"uint2", 2, std::nullopt},
      {"int2", 2, std::nullopt},
  }};
  if (number < 1 || number >= static_cast<std::int64_t>(kElements.size())) {
    return nullptr;
  }
  return &kElements[static_cast<std::size_t>(number)];
}

}  // namespace modelrun
