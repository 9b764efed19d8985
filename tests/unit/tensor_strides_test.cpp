// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "modelrun/error.h"
#include "modelrun/tensor.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::error_of;

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMin = std::numeric_limits<std::int64_t>::min();

template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<const T>();
  return {data.begin(), data.end()};
}

// The elements 0, 1, 2, ... as int32.
std::vector<std::int32_t> counting(std::size_t size) {
  std::vector<std::int32_t> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

Tensor strided(std::int32_t* first, Shape shape, Shape strides) {
  return Tensor::view(first, {.dtype = DType::int32,
                              .shape = std::move(shape),
                              .strides = std::move(strides)});
}

using Ints = std::vector<std::int32_t>;

TEST(StridedView, OfRowMajorStridesIsContiguous) {
  Ints memory = counting(6);
  EXPECT_TRUE(strided(memory.data(), {2, 3}, {3, 1}).is_contiguous());
  // The stride of an axis of one element says nothing.
  EXPECT_TRUE(strided(memory.data(), {1, 6}, {-99, 1}).is_contiguous());
  EXPECT_TRUE(strided(memory.data(), {6, 1}, {1, kMax}).is_contiguous());
  EXPECT_TRUE(strided(memory.data(), {2, 1, 3}, {3, 0, 1}).is_contiguous());
  EXPECT_TRUE(strided(memory.data(), {0, 3}, {5, 7}).is_contiguous());
  EXPECT_FALSE(strided(memory.data(), {2, 2}, {3, 1}).is_contiguous());
}

TEST(StridedView, KeepsItsStridesAndCountsNoGaps) {
  Ints memory = counting(6);
  const auto columns = strided(memory.data(), {3, 2}, {1, 3});
  EXPECT_EQ(columns.strides(), Shape({1, 3}));
  EXPECT_EQ(columns.element_count(), 6);
  EXPECT_EQ(strided(memory.data(), {2}, {4}).byte_size(), 8u);
}

TEST(StridedView, ATransposeIsCopiedInOrder) {
  Ints memory = counting(6);
  const auto copy = strided(memory.data(), {3, 2}, {1, 3}).contiguous();
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_EQ(copy.shape(), Shape({3, 2}));
  EXPECT_EQ(values_of<std::int32_t>(copy), (Ints{0, 3, 1, 4, 2, 5}));
  EXPECT_NE(copy.raw_data(), memory.data());
}

TEST(StridedView, RowsWithGapsAreCopiedWithoutThem) {
  Ints memory = counting(12);
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data() + 1, {3, 2}, {4, 1}).contiguous()),
            (Ints{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data(), {2, 2, 2}, {6, 3, 2}).contiguous()),
            (Ints{0, 2, 3, 5, 6, 8, 9, 11}));
}

TEST(StridedView, NegativeStridesRunBackwards) {
  Ints memory = counting(6);
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data() + 5, {6}, {-1}).contiguous()),
            (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data() + 3, {2, 3}, {-3, 1}).contiguous()),
            (Ints{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data() + 2, {2, 3}, {3, -1}).contiguous()),
            (Ints{2, 1, 0, 5, 4, 3}));
}

TEST(StridedView, AZeroStrideRepeats) {
  Ints memory = counting(3);
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data(), {2, 3}, {0, 1}).contiguous()),
            (Ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data(), {3, 2}, {1, 0}).contiguous()),
            (Ints{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data() + 2, {2, 2}, {0, 0}).clone()),
            (Ints{2, 2, 2, 2}));
}

TEST(StridedView, AxesOfOneElementMayHaveAnyStride) {
  Ints memory = counting(4);
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data(), {1, 2}, {kMax, 2}).contiguous()),
            (Ints{0, 2}));
  EXPECT_EQ(values_of<std::int32_t>(
                strided(memory.data() + 3, {2, 1}, {-3, kMin}).contiguous()),
            (Ints{3, 0}));
}

TEST(StridedView, OfAHighRankIsCopied) {
  Ints memory = counting(256);
  Shape shape = Shape::of_rank(8);
  Shape strides = Shape::of_rank(8);
  for (std::size_t axis = 0; axis < 8; ++axis) {
    shape[axis] = 2;
    strides[axis] = std::int64_t{1} << axis;
  }
  const auto copy = strided(memory.data(), shape, strides).contiguous();
  const auto data = copy.data<std::int32_t>();
  for (int i = 0; i < 256; ++i) {
    int reversed = 0;
    for (int bit = 0; bit < 8; ++bit) reversed |= (i >> bit & 1) << (7 - bit);
    ASSERT_EQ(data[static_cast<std::size_t>(i)], reversed);
  }
}

TEST(StridedView, EveryWidthIsCopied) {
  std::array<std::uint8_t, 64> memory;
  std::iota(memory.begin(), memory.end(), std::uint8_t{0});
  for (const DType dtype :
       {DType::bool_, DType::bfloat16, DType::float32, DType::float64}) {
    const auto width = static_cast<std::size_t>(bits(dtype)) / 8;
    const auto copy =
        Tensor::view(memory.data(),
                     {.dtype = dtype, .shape = {2}, .strides = {3}})
            .contiguous();
    const auto* bytes = static_cast<const std::uint8_t*>(copy.raw_data());
    for (std::size_t i = 0; i < width; ++i) {
      EXPECT_EQ(bytes[i], i) << name(dtype);
      EXPECT_EQ(bytes[width + i], 3 * width + i) << name(dtype);
    }
  }
}

TEST(StridedView, AReachPastAnyMemoryIsRefused) {
  std::int32_t memory = 0;
  EXPECT_EQ(
      error_of<InvalidArgument>([&] { return strided(&memory, {2}, {kMax}); }),
      "strides of [9223372036854775807] on a shape of [2] reach past any "
      "memory");
  const std::pair<Shape, Shape> refused[] = {
      {{2}, {kMin}},
      {{3}, {kMin}},
      {{2}, {-kMax}},
      {{3, 3}, {kMax / 2, kMax / 2}},
      {{2, 2}, {kMax / 20, -(kMax / 20)}},
      {{std::int64_t{1} << 50}, {1 << 14}}};
  for (const auto& [shape, strides] : refused) {
    EXPECT_THROW((void)strided(&memory, shape, strides), InvalidArgument)
        << to_string(shape) << to_string(strides);
  }
}

TEST(StridedView, ABroadcastCannotOverflowTheCount) {
  std::int32_t memory = 0;
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              return strided(&memory, {std::int64_t{1} << 62, 4}, {0, 0});
            }),
            "a shape of [4611686018427387904, 4] has too many elements");
  EXPECT_EQ(error_of<InvalidArgument>(
                [&] { return strided(&memory, {std::int64_t{1} << 61}, {0}); }),
            "a tensor of 2305843009213693952 int32 elements has no valid size");
}

TEST(StridedView, IsComparedByItsElementsOnly) {
  Ints memory{1, -1, 2, -2};
  const auto view = strided(memory.data(), {2}, {2});
  EXPECT_TRUE(equal(view, Tensor::from<std::int32_t>({1, 2}, {2})));
  EXPECT_TRUE(equal(Tensor::from<std::int32_t>({1, 2}, {2}), view));
  EXPECT_FALSE(equal(view, Tensor::from<std::int32_t>({1, -1}, {2})));
}

}  // namespace
}  // namespace modelrun
