// SPDX-License-Identifier: Apache-2.0
#include "element.h"

#include <array>
#include <cstdint>
#include <utility>

namespace modelrun::fake {

namespace {

struct NamedType {
  std::string_view name;
  DLDataType dtype;
};

constexpr std::array kTypes = {
    NamedType{"bool", {kDLBool, 8, 1}},
    NamedType{"uint8", {kDLUInt, 8, 1}},
    NamedType{"uint16", {kDLUInt, 16, 1}},
    NamedType{"uint32", {kDLUInt, 32, 1}},
    NamedType{"uint64", {kDLUInt, 64, 1}},
    NamedType{"int8", {kDLInt, 8, 1}},
    NamedType{"int16", {kDLInt, 16, 1}},
    NamedType{"int32", {kDLInt, 32, 1}},
    NamedType{"int64", {kDLInt, 64, 1}},
    NamedType{"float16", {kDLFloat, 16, 1}},
    NamedType{"bfloat16", {kDLBfloat, 16, 1}},
    NamedType{"float32", {kDLFloat, 32, 1}},
    NamedType{"float64", {kDLFloat, 64, 1}},
    NamedType{"uint4", {kDLUInt, 4, 1}},
    NamedType{"int4", {kDLInt, 4, 1}},
    // One that modelrun does not have.
    NamedType{"complex64", {kDLComplex, 64, 1}},
};

/// Calls `body` with a value of the dtype's C++ type; false when it has none.
template <typename Body>
bool with_type(DLDataType dtype, Body&& body) noexcept {
  switch (dtype.code << 8 | dtype.bits) {
    case kDLBool << 8 | 8:
    case kDLUInt << 8 | 8:
      return body(std::uint8_t{}), true;
    case kDLUInt << 8 | 16:
      return body(std::uint16_t{}), true;
    case kDLUInt << 8 | 32:
      return body(std::uint32_t{}), true;
    case kDLUInt << 8 | 64:
      return body(std::uint64_t{}), true;
    case kDLInt << 8 | 8:
      return body(std::int8_t{}), true;
    case kDLInt << 8 | 16:
      return body(std::int16_t{}), true;
    case kDLInt << 8 | 32:
      return body(std::int32_t{}), true;
    case kDLInt << 8 | 64:
      return body(std::int64_t{}), true;
    case kDLFloat << 8 | 32:
      return body(float{}), true;
    case kDLFloat << 8 | 64:
      return body(double{}), true;
    default:
      return false;
  }
}

}  // namespace

std::optional<DLDataType> dtype_from_name(std::string_view name) noexcept {
  for (const NamedType& type : kTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

bool same(DLDataType a, DLDataType b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool has_arithmetic(DLDataType dtype) noexcept {
  return dtype.lanes == 1 && with_type(dtype, [](auto) {});
}

void store_number(DLDataType dtype, double value, void* to) noexcept {
  with_type(dtype, [&](auto zero) {
    *static_cast<decltype(zero)*>(to) = static_cast<decltype(zero)>(value);
  });
}

void add(DLDataType dtype, const void* a, const void* b, void* to,
         std::size_t count) noexcept {
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<T*>(to)[i] = static_cast<T>(static_cast<const T*>(a)[i] +
                                              static_cast<const T*>(b)[i]);
    }
  });
}

}  // namespace modelrun::fake
