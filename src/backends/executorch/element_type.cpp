// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/element_type.h"

#include <array>
#include <cstdint>

namespace modelrun::executorch {
namespace {

struct Pair {
  ScalarType type;
  std::uint8_t code;
  std::uint8_t bits;
};

constexpr std::array kPairs{
    Pair{ScalarType::Bool, kDLBool, 8},
    Pair{ScalarType::Byte, kDLUInt, 8},
    Pair{ScalarType::UInt16, kDLUInt, 16},
    Pair{ScalarType::UInt32, kDLUInt, 32},
    Pair{ScalarType::UInt64, kDLUInt, 64},
    Pair{ScalarType::Char, kDLInt, 8},
    Pair{ScalarType::Short, kDLInt, 16},
    Pair{ScalarType::Int, kDLInt, 32},
    Pair{ScalarType::Long, kDLInt, 64},
    Pair{ScalarType::Half, kDLFloat, 16},
    Pair{ScalarType::BFloat16, kDLBfloat, 16},
    Pair{ScalarType::Float, kDLFloat, 32},
    Pair{ScalarType::Double, kDLFloat, 64},
};

}  // namespace

std::optional<DLDataType> to_dlpack(ScalarType type) noexcept {
  for (const Pair& pair : kPairs) {
    if (pair.type == type) return DLDataType{pair.code, pair.bits, 1};
  }
  return std::nullopt;
}

ScalarType scalar_type_of(DLDataType dtype) noexcept {
  for (const Pair& pair : kPairs) {
    if (pair.code == dtype.code && pair.bits == dtype.bits) return pair.type;
  }
  return ScalarType::Undefined;
}

}  // namespace modelrun::executorch
