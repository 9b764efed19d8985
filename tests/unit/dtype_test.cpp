// SPDX-License-Identifier: Apache-2.0
#include "modelrun/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "modelrun/error.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::error_of;

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (int i = 0; i <= static_cast<int>(DType::int4); ++i) {
    all.push_back(static_cast<DType>(i));
  }
  return all;
}

TEST(DType, HasTorchsNames) {
  EXPECT_EQ(name(DType::bool_), "bool");
  EXPECT_EQ(name(DType::uint8), "uint8");
  EXPECT_EQ(name(DType::uint16), "uint16");
  EXPECT_EQ(name(DType::uint32), "uint32");
  EXPECT_EQ(name(DType::uint64), "uint64");
  EXPECT_EQ(name(DType::int8), "int8");
  EXPECT_EQ(name(DType::int16), "int16");
  EXPECT_EQ(name(DType::int32), "int32");
  EXPECT_EQ(name(DType::int64), "int64");
  EXPECT_EQ(name(DType::float16), "float16");
  EXPECT_EQ(name(DType::bfloat16), "bfloat16");
  EXPECT_EQ(name(DType::float32), "float32");
  EXPECT_EQ(name(DType::float64), "float64");
  EXPECT_EQ(name(DType::uint4), "uint4");
  EXPECT_EQ(name(DType::int4), "int4");
}

TEST(DType, ANameIsReadWithAndWithoutTorch) {
  for (const DType dtype : all_dtypes()) {
    const std::string text(name(dtype));
    EXPECT_EQ(dtype_from_name(text), dtype) << text;
    EXPECT_EQ(dtype_from_name("torch." + text), dtype) << text;
  }
}

TEST(DType, OtherNamesAreNone) {
  for (const char* text : {"", "torch.", "torch", "Float32", "float", "half",
                           "bool_", "float8", "torch.torch.int8", "numpy.int8",
                           "int64 ", " int64", "int", "int640", "complex64"}) {
    EXPECT_EQ(dtype_from_name(text), std::nullopt) << text;
  }
  EXPECT_EQ(dtype_from_name({"int8\0", 5}), std::nullopt);
}

TEST(DType, BitsAreTheElements) {
  EXPECT_EQ(bits(DType::bool_), 8);
  EXPECT_EQ(bits(DType::uint8), 8);
  EXPECT_EQ(bits(DType::int16), 16);
  EXPECT_EQ(bits(DType::float16), 16);
  EXPECT_EQ(bits(DType::bfloat16), 16);
  EXPECT_EQ(bits(DType::uint32), 32);
  EXPECT_EQ(bits(DType::float32), 32);
  EXPECT_EQ(bits(DType::int64), 64);
  EXPECT_EQ(bits(DType::float64), 64);
  EXPECT_EQ(bits(DType::uint4), 4);
  EXPECT_EQ(bits(DType::int4), 4);
}

TEST(DType, EveryOneIsBoolIntegerFloatingOrPacked) {
  for (const DType dtype : all_dtypes()) {
    const int kinds = (dtype == DType::bool_) + is_integer(dtype) +
                      is_floating_point(dtype) + (bits(dtype) < 8);
    EXPECT_EQ(kinds, 1) << name(dtype);
  }
  EXPECT_TRUE(is_integer(DType::uint8));
  EXPECT_TRUE(is_integer(DType::int64));
  EXPECT_TRUE(is_floating_point(DType::float16));
  EXPECT_TRUE(is_floating_point(DType::bfloat16));
  EXPECT_TRUE(is_floating_point(DType::float64));
}

template <typename T>
void expect_same_size() {
  EXPECT_EQ(bits(dtype_of<T>), static_cast<int>(8 * sizeof(T)));
}

TEST(DType, CppTypesStandForDTypesOfTheirSize) {
  EXPECT_EQ(dtype_of<bool>, DType::bool_);
  EXPECT_EQ(dtype_of<std::uint8_t>, DType::uint8);
  EXPECT_EQ(dtype_of<std::int8_t>, DType::int8);
  EXPECT_EQ(dtype_of<std::uint64_t>, DType::uint64);
  EXPECT_EQ(dtype_of<Float16>, DType::float16);
  EXPECT_EQ(dtype_of<BFloat16>, DType::bfloat16);
  EXPECT_EQ(dtype_of<double>, DType::float64);
  expect_same_size<bool>();
  expect_same_size<std::uint16_t>();
  expect_same_size<std::uint32_t>();
  expect_same_size<std::int16_t>();
  expect_same_size<std::int32_t>();
  expect_same_size<std::int64_t>();
  expect_same_size<Float16>();
  expect_same_size<BFloat16>();
  expect_same_size<float>();
}

TEST(ByteSize, IsInBytesAndRoundsPackedOnesUp) {
  EXPECT_EQ(byte_size(DType::float16, 3), 6u);
  EXPECT_EQ(byte_size(DType::int64, 3), 24u);
  EXPECT_EQ(byte_size(DType::bool_, 3), 3u);
  EXPECT_EQ(byte_size(DType::int4, 0), 0u);
  EXPECT_EQ(byte_size(DType::int4, 1), 1u);
  EXPECT_EQ(byte_size(DType::uint4, 2), 1u);
  EXPECT_EQ(byte_size(DType::uint4, 3), 2u);
  EXPECT_EQ(byte_size(DType::float64, 0), 0u);
}

TEST(ByteSize, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return byte_size(DType::float32, -1); }),
      "a tensor of -1 float32 elements has no valid size");
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return byte_size(DType::int8, kMax); }),
      "a tensor of 9223372036854775807 int8 elements has no valid size");
  for (const DType dtype : all_dtypes()) {
    EXPECT_THROW((void)byte_size(dtype, kMax), InvalidArgument);
    EXPECT_THROW(
        (void)byte_size(dtype, std::numeric_limits<std::int64_t>::min()),
        InvalidArgument);
    // The last count that is taken, and the first that is not.
    const std::int64_t last = (kMax - 7) / bits(dtype);
    EXPECT_EQ(byte_size(dtype, last),
              (static_cast<std::size_t>(last) * bits(dtype) + 7) / 8);
    EXPECT_THROW((void)byte_size(dtype, last + 1), InvalidArgument);
  }
}

template <typename Half>
Half of_bits(int bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

template <typename Half>
float value_of(int bits) {
  return static_cast<float>(of_bits<Half>(bits));
}

/// What the standard says that 16 bits with so many fraction bits are worth.
float reference(int bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * kInfinity;
  }
  const int scale = std::max(exponent, 1) - bias - fraction_bits;
  const int hidden = exponent == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(static_cast<float>(fraction + hidden), scale);
}

struct Float16Format {
  using Type = Float16;
  static constexpr int kFractionBits = 10;
  static constexpr int kInfinityBits = 0x7c00;
};

struct BFloat16Format {
  using Type = BFloat16;
  static constexpr int kFractionBits = 7;
  static constexpr int kInfinityBits = 0x7f80;
};

template <typename Format>
class HalfFormat : public ::testing::Test {};

using Formats = ::testing::Types<Float16Format, BFloat16Format>;
TYPED_TEST_SUITE(HalfFormat, Formats);

TYPED_TEST(HalfFormat, EveryOneIsWorthWhatTheStandardSays) {
  using Half = typename TypeParam::Type;
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const float expected = reference(bits, TypeParam::kFractionBits);
    const float value = value_of<Half>(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value),
                std::bit_cast<std::uint32_t>(expected))
          << bits;
    }
  }
}

TYPED_TEST(HalfFormat, EveryOneComesBackFromFloatBitForBit) {
  using Half = typename TypeParam::Type;
  constexpr int kQuiet = 1 << (TypeParam::kFractionBits - 1);
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const bool nan = (bits & 0x7fff) > TypeParam::kInfinityBits;
    // Of a signaling NaN the payload stays, and it becomes quiet.
    ASSERT_EQ(Half(value_of<Half>(bits)).bits, nan ? bits | kQuiet : bits);
  }
}

TYPED_TEST(HalfFormat, RoundsToNearestAroundEveryMidpoint) {
  using Half = typename TypeParam::Type;
  for (int bits = 0; bits + 1 < TypeParam::kInfinityBits; ++bits) {
    const float middle =
        static_cast<float>((static_cast<double>(value_of<Half>(bits)) +
                            static_cast<double>(value_of<Half>(bits + 1))) /
                           2);
    const int even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(Half(middle).bits, even);
    ASSERT_EQ(Half(-middle).bits, even | 0x8000);
    ASSERT_EQ(Half(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(Half(std::nextafter(middle, kInfinity)).bits, bits + 1);
    ASSERT_EQ(Half(-std::nextafter(middle, kInfinity)).bits,
              (bits + 1) | 0x8000);
  }
}

TYPED_TEST(HalfFormat, InfinityAndZeroKeepTheirSigns) {
  using Half = typename TypeParam::Type;
  EXPECT_EQ(Half(kInfinity).bits, TypeParam::kInfinityBits);
  EXPECT_EQ(Half(-kInfinity).bits, TypeParam::kInfinityBits | 0x8000);
  EXPECT_EQ(Half(0.0f).bits, 0);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_EQ(Half().bits, 0);
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(Half(largest).bits, TypeParam::kInfinityBits);
  EXPECT_EQ(Half(-largest).bits, TypeParam::kInfinityBits | 0x8000);
}

TYPED_TEST(HalfFormat, NoNaNBecomesInfinity) {
  using Half = typename TypeParam::Type;
  for (std::uint32_t fraction = 1; fraction < 0x800000u; fraction += 0x1fff) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const auto nan = std::bit_cast<float>(sign | 0x7f800000u | fraction);
      const Half half(nan);
      ASSERT_GT(half.bits & 0x7fff, TypeParam::kInfinityBits);
      ASSERT_EQ(half.bits & 0x8000, static_cast<int>(sign >> 16));
    }
  }
}

TEST(Float16, OverflowsHalfwayToWhatWouldComeNext) {
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(std::nextafter(65520.0f, 0.0f)).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(Float16(1e30f).bits, 0x7c00);
}

TEST(Float16, UnderflowsToZeroAtHalfTheSmallest) {
  const float smallest = std::ldexp(1.0f, -24);
  EXPECT_EQ(Float16(smallest).bits, 1);
  EXPECT_EQ(Float16(smallest / 2).bits, 0);
  EXPECT_EQ(Float16(std::nextafter(smallest / 2, 1.0f)).bits, 1);
  EXPECT_EQ(Float16(-smallest / 2).bits, 0x8000);
  EXPECT_EQ(Float16(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TEST(BFloat16, OverflowsHalfwayToWhatWouldComeNext) {
  const auto halfway = std::bit_cast<float>(0x7f7f8000u);
  EXPECT_EQ(BFloat16(std::nextafter(halfway, 0.0f)).bits, 0x7f7f);
  EXPECT_EQ(BFloat16(halfway).bits, 0x7f80);
}

// Halves were read with the bit layout of the other type.
TEST(Halves, TheTwoTypesDoNotShareALayout) {
  EXPECT_EQ(Float16(1.5f).bits, 0x3e00);
  EXPECT_EQ(BFloat16(1.5f).bits, 0x3fc0);
  EXPECT_EQ(static_cast<float>(of_bits<Float16>(0x3e00)), 1.5f);
  EXPECT_EQ(static_cast<float>(of_bits<BFloat16>(0x3fc0)), 1.5f);
}

}  // namespace
}  // namespace modelrun
