// SPDX-License-Identifier: Apache-2.0
#include "modelrun/shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "modelrun/error.h"
#include "support/allocation_count.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::AllocationCount;
using testing::error_of;

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

// 1, 2, 3, ...
Shape counting(std::size_t rank) {
  Shape shape = Shape::of_rank(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = static_cast<std::int64_t>(i) + 1;
  }
  return shape;
}

void expect_counting(const Shape& shape, std::size_t rank) {
  ASSERT_EQ(shape.rank(), rank);
  EXPECT_EQ(shape.empty(), rank == 0);
  EXPECT_EQ(static_cast<std::size_t>(shape.end() - shape.begin()), rank);
  for (std::size_t i = 0; i < rank; ++i) {
    EXPECT_EQ(shape[i], static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(shape.data()[i], shape[i]);
  }
}

TEST(Shape, IsOfRankZeroByDefault) {
  expect_counting(Shape(), 0);
  EXPECT_EQ(Shape(), Shape({}));
  EXPECT_EQ(Shape(), Shape::of_rank(0));
}

TEST(Shape, HoldsItsSizes) {
  expect_counting({1, 2, 3}, 3);
  expect_counting({1, 2, 3, 4, 5, 6, 7, 8}, 8);
  const std::vector<std::int64_t> sizes{1, 2};
  expect_counting(Shape(std::span<const std::int64_t>(sizes)), 2);
}

TEST(Shape, OfRankIsZeros) {
  for (const std::size_t rank : {1u, 6u, 7u, 20u}) {
    const Shape shape = Shape::of_rank(rank);
    ASSERT_EQ(shape.rank(), rank);
    for (const std::int64_t size : shape) EXPECT_EQ(size, 0);
  }
}

// The ranks on both sides of where a shape moves to the heap.
class ShapeOfRank : public ::testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(AroundTheInlineRank, ShapeOfRank,
                         ::testing::Values(0, 1, 5, 6, 7, 8, 33));

TEST_P(ShapeOfRank, ACopyIsIndependent) {
  Shape original = counting(GetParam());
  const Shape copy = original;
  if (!original.empty()) original[0] = 99;
  expect_counting(copy, GetParam());
}

TEST_P(ShapeOfRank, AMoveTakesTheSizes) {
  Shape original = counting(GetParam());
  const Shape moved = std::move(original);
  expect_counting(moved, GetParam());
  original = Shape{4, 5};  // a moved-from shape can be assigned to
  EXPECT_EQ(original, Shape({4, 5}));
}

TEST_P(ShapeOfRank, AssignmentReplacesAnyOtherRank) {
  for (const std::size_t before : {0u, 3u, 6u, 7u, 9u}) {
    Shape copied = Shape::of_rank(before);
    const Shape source = counting(GetParam());
    copied = source;
    expect_counting(copied, GetParam());
    expect_counting(source, GetParam());
    Shape moved = Shape::of_rank(before);
    moved = counting(GetParam());
    expect_counting(moved, GetParam());
  }
}

TEST_P(ShapeOfRank, SelfAssignmentChangesNothing) {
  Shape shape = counting(GetParam());
  Shape& same = shape;
  shape = same;
  expect_counting(shape, GetParam());
  shape = std::move(same);
  expect_counting(shape, GetParam());
}

TEST_P(ShapeOfRank, SwapExchanges) {
  Shape a = counting(GetParam());
  Shape b{7, 7};
  std::swap(a, b);
  EXPECT_EQ(a, Shape({7, 7}));
  expect_counting(b, GetParam());
}

TEST_P(ShapeOfRank, OnlyAHighRankAllocates) {
  const AllocationCount allocations;
  const Shape original = counting(GetParam());
  Shape copy = original;
  Shape moved = std::move(copy);
  copy = moved;
  if (!allocations.count()) GTEST_SKIP() << "built with a sanitizer";
  EXPECT_EQ(allocations.count(), GetParam() <= Shape::kInlineRank ? 0u : 3u);
}

TEST(Shape, EqualityIsOfRankAndSizes) {
  EXPECT_EQ(Shape({2, 3}), Shape({2, 3}));
  EXPECT_FALSE(Shape({2, 3}) == Shape({3, 2}));
  EXPECT_FALSE(Shape({2, 3}) == Shape({2, 3, 1}));
  EXPECT_FALSE(Shape({}) == Shape({0}));
  EXPECT_EQ(counting(7), counting(7));
  EXPECT_FALSE(counting(7) == counting(6));
}

TEST(Shape, IsPrintedAsTorchDoes) {
  EXPECT_EQ(to_string(Shape()), "[]");
  EXPECT_EQ(to_string(Shape{2}), "[2]");
  EXPECT_EQ(to_string(Shape{2, -1, 0}), "[2, -1, 0]");
  EXPECT_EQ(to_string(counting(7)), "[1, 2, 3, 4, 5, 6, 7]");
}

TEST(ElementCount, IsTheProduct) {
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ(Shape({3, 4, 5}).element_count(), 60);
  EXPECT_EQ(counting(8).element_count(), 40320);
  EXPECT_EQ(Shape({kMax, 1}).element_count(), kMax);
}

TEST(ElementCount, OfAnEmptyAxisIsZeroHoweverLargeTheOthersAre) {
  EXPECT_EQ(Shape({0}).element_count(), 0);
  EXPECT_EQ(Shape({1, 4, 0, 8}).element_count(), 0);
  EXPECT_EQ(Shape({kMax, kMax, 0}).element_count(), 0);
  EXPECT_EQ(Shape({0, kMax, kMax}).element_count(), 0);
}

TEST(ElementCount, OverflowIsRefused) {
  EXPECT_EQ(error_of<InvalidArgument>([] {
              return Shape({std::int64_t{1} << 32, std::int64_t{1} << 31})
                  .element_count();
            }),
            "a shape of [4294967296, 2147483648] has too many elements");
  EXPECT_THROW((void)Shape({kMax, 2}).element_count(), InvalidArgument);
  // Wraps around to a small, positive product.
  EXPECT_THROW((void)Shape({std::int64_t{1} << 33, (std::int64_t{1} << 31) + 1})
                   .element_count(),
               InvalidArgument);
}

TEST(ElementCount, ANegativeSizeIsRefusedWhereverItStands) {
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return Shape({2, -1}).element_count(); }),
      "a shape of [2, -1] has a negative size");
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return Shape({0, -1}).element_count(); }),
      "a shape of [0, -1] has a negative size");
  EXPECT_THROW((void)Shape({-1, -1}).element_count(), InvalidArgument);
}

}  // namespace
}  // namespace modelrun
