// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/element_type.h"

#include <array>
#include <cstdint>

namespace modelrun::openvino {
namespace {

using ov::element::Type_t;

struct Pair {
  Type_t openvino;
  std::uint8_t code;
  std::uint8_t bits;
  const char* name;
};

constexpr std::array kPairs{
    Pair{Type_t::boolean, kDLBool, 8, "bool"},
    Pair{Type_t::u4, kDLUInt, 4, "uint4"},
    Pair{Type_t::u8, kDLUInt, 8, "uint8"},
    Pair{Type_t::u16, kDLUInt, 16, "uint16"},
    Pair{Type_t::u32, kDLUInt, 32, "uint32"},
    Pair{Type_t::u64, kDLUInt, 64, "uint64"},
    Pair{Type_t::i4, kDLInt, 4, "int4"},
    Pair{Type_t::i8, kDLInt, 8, "int8"},
    Pair{Type_t::i16, kDLInt, 16, "int16"},
    Pair{Type_t::i32, kDLInt, 32, "int32"},
    Pair{Type_t::i64, kDLInt, 64, "int64"},
    Pair{Type_t::f16, kDLFloat, 16, "float16"},
    Pair{Type_t::bf16, kDLBfloat, 16, "bfloat16"},
    Pair{Type_t::f32, kDLFloat, 32, "float32"},
    Pair{Type_t::f64, kDLFloat, 64, "float64"},
};

}  // namespace

std::optional<DLDataType> to_dlpack(const ov::element::Type& type) noexcept {
  for (const Pair& pair : kPairs) {
    if (type == pair.openvino) return DLDataType{pair.code, pair.bits, 1};
  }
  return std::nullopt;
}

std::optional<ov::element::Type> to_openvino(DLDataType type) noexcept {
  if (type.lanes != 1) return std::nullopt;
  for (const Pair& pair : kPairs) {
    if (pair.code == type.code && pair.bits == type.bits) {
      return ov::element::Type(pair.openvino);
    }
  }
  return std::nullopt;
}

std::string type_name(const ov::element::Type& type) {
  for (const Pair& pair : kPairs) {
    if (type == pair.openvino) return pair.name;
  }
  return type.to_string();
}

}  // namespace modelrun::openvino
