// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/element_type.h"

#include <array>

#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

struct Row {
  c10::ScalarType type;
  /// In an archive.
  std::int64_t number;
  const char* name;
  /// Of DLPack; no bits for a type that no port can have.
  std::uint8_t code;
  std::uint8_t bits;
};

constexpr std::array kRows{
    Row{c10::kByte, 1, "uint8", kDLUInt, 8},
    Row{c10::kChar, 2, "int8", kDLInt, 8},
    Row{c10::kShort, 3, "int16", kDLInt, 16},
    Row{c10::kInt, 4, "int32", kDLInt, 32},
    Row{c10::kLong, 5, "int64", kDLInt, 64},
    Row{c10::kHalf, 6, "float16", kDLFloat, 16},
    Row{c10::kFloat, 7, "float32", kDLFloat, 32},
    Row{c10::kDouble, 8, "float64", kDLFloat, 64},
    Row{c10::kComplexHalf, 9, "complex32", 0, 0},
    Row{c10::kComplexFloat, 10, "complex64", 0, 0},
    Row{c10::kComplexDouble, 11, "complex128", 0, 0},
    Row{c10::kBool, 12, "bool", kDLBool, 8},
    Row{c10::kBFloat16, 13, "bfloat16", kDLBfloat, 16},
    Row{c10::kUInt16, 28, "uint16", kDLUInt, 16},
    Row{c10::kFloat8_e4m3fn, 29, "float8_e4m3fn", 0, 0},
    Row{c10::kFloat8_e5m2, 30, "float8_e5m2", 0, 0},
    Row{c10::kFloat8_e4m3fnuz, 31, "float8_e4m3fnuz", 0, 0},
    Row{c10::kFloat8_e5m2fnuz, 32, "float8_e5m2fnuz", 0, 0},
    Row{c10::kFloat8_e8m0fnu, 33, "float8_e8m0fnu", 0, 0},
    Row{c10::kUInt32, 34, "uint32", kDLUInt, 32},
    Row{c10::kUInt64, 35, "uint64", kDLUInt, 64},
};

}  // namespace

c10::ScalarType recorded_type(std::int64_t number) {
  for (const Row& row : kRows) {
    if (row.number == number) return row.type;
  }
  throw InvalidArgument("expected the number of an element type, got " +
                        std::to_string(number));
}

std::optional<c10::ScalarType> from_dlpack(DLDataType type) noexcept {
  if (type.lanes != 1) return std::nullopt;
  for (const Row& row : kRows) {
    if (row.bits != 0 && row.code == type.code && row.bits == type.bits) {
      return row.type;
    }
  }
  return std::nullopt;
}

std::optional<DLDataType> to_dlpack(c10::ScalarType type) noexcept {
  for (const Row& row : kRows) {
    if (row.bits != 0 && row.type == type) {
      return DLDataType{row.code, row.bits, 1};
    }
  }
  return std::nullopt;
}

std::string type_name(c10::ScalarType type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row.name;
  }
  return c10::toString(type);
}

}  // namespace modelrun::torch
