// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace modelrun {

/// The type of a tensor's elements, named as torch names it.
///
/// `uint4` and `int4` are packed, two elements a byte, and opaque: they are
/// moved and compared by their bytes only.
enum class DType : std::uint8_t {
  bool_,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  uint4,
  int4,
};

/// The name that users type and read: `"bool"`, `"int64"`, `"bfloat16"`.
[[nodiscard]] std::string_view name(DType dtype) noexcept;

/// The dtype of a name, with or without a `torch.` prefix.
[[nodiscard]] std::optional<DType> dtype_from_name(
    std::string_view name) noexcept;

/// Bits per element: 4 for the packed types, else a multiple of 8.
[[nodiscard]] int bits(DType dtype) noexcept;

/// Bytes that `elements` elements take; throws InvalidArgument when that is
/// negative or does not fit.
[[nodiscard]] std::size_t byte_size(DType dtype, std::int64_t elements);

/// Whether it is one of the (unpacked) signed or unsigned integers.
[[nodiscard]] bool is_integer(DType dtype) noexcept;

/// Whether it is one of the floating-point types.
[[nodiscard]] bool is_floating_point(DType dtype) noexcept;

/// IEEE 754 binary16, by its bits.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  /// Rounds to nearest, ties to even; overflow becomes infinity.
  explicit Float16(float value) noexcept;
  explicit operator float() const noexcept;
};

/// The upper half of an IEEE 754 binary32, by its bits.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays one.
  explicit BFloat16(float value) noexcept;
  explicit operator float() const noexcept;
};

namespace detail {
template <typename T>
struct DTypeOf;
template <DType D>
struct DTypeConstant {
  static constexpr DType value = D;
};
template <>
struct DTypeOf<bool> : DTypeConstant<DType::bool_> {};
template <>
struct DTypeOf<std::uint8_t> : DTypeConstant<DType::uint8> {};
template <>
struct DTypeOf<std::uint16_t> : DTypeConstant<DType::uint16> {};
template <>
struct DTypeOf<std::uint32_t> : DTypeConstant<DType::uint32> {};
template <>
struct DTypeOf<std::uint64_t> : DTypeConstant<DType::uint64> {};
template <>
struct DTypeOf<std::int8_t> : DTypeConstant<DType::int8> {};
template <>
struct DTypeOf<std::int16_t> : DTypeConstant<DType::int16> {};
template <>
struct DTypeOf<std::int32_t> : DTypeConstant<DType::int32> {};
template <>
struct DTypeOf<std::int64_t> : DTypeConstant<DType::int64> {};
template <>
struct DTypeOf<Float16> : DTypeConstant<DType::float16> {};
template <>
struct DTypeOf<BFloat16> : DTypeConstant<DType::bfloat16> {};
template <>
struct DTypeOf<float> : DTypeConstant<DType::float32> {};
template <>
struct DTypeOf<double> : DTypeConstant<DType::float64> {};
}  // namespace detail

/// The dtype that a C++ element type stands for.
template <typename T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

}  // namespace modelrun
