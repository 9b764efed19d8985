// SPDX-License-Identifier: Apache-2.0
#include "core/frame.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "support/allocation_count.h"

namespace modelrun {
namespace {

using detail::Frame;
using testing::AllocationCount;

std::shared_ptr<const Structure> list_of(std::size_t size) {
  std::vector<Structure> leaves;
  for (std::size_t i = 0; i < size; ++i) leaves.push_back(Structure::leaf(i));
  return std::make_shared<const Structure>(Structure::list(std::move(leaves)));
}

TEST(AllocationCount, CountsTheStandardForms) {
  const AllocationCount allocations;
  if (!allocations.count()) GTEST_SKIP() << "built with a sanitizer";
  // Called by name, since the compiler may leave out a `new` and its `delete`.
  ::operator delete(::operator new(8));
  ::operator delete[](::operator new[](8));
  ::operator delete(::operator new(8, std::nothrow), std::nothrow);
  ::operator delete(::operator new(8, std::align_val_t{64}),
                    std::align_val_t{64});
  EXPECT_EQ(allocations.count(), 4u);
  EXPECT_EQ(AllocationCount().count(), 0u);
}

TEST(Frame, HoldsUndefinedTensorsToBeFilled) {
  const auto frame = Frame::create(list_of(3), 3);
  ASSERT_EQ(frame->tensors().size(), 3u);
  for (const Tensor& tensor : frame->tensors()) EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(frame->structure().size(), 3u);
  frame->tensors()[1] = Tensor::scalar(std::int64_t{5});
  const Value root = Frame::root(frame);
  EXPECT_EQ(root[1].tensor().item<std::int64_t>(), 5);
}

TEST(Frame, IsOneAllocationWithItsTensors) {
  const auto structure = list_of(100);
  const AllocationCount allocations;
  auto frame = Frame::create(structure, 100);
  const Value root = Frame::root(std::move(frame));
  const Value copy = root;
  const Value child = root[99];
  if (!allocations.count()) GTEST_SKIP() << "built with a sanitizer";
  EXPECT_EQ(allocations.count(), 1u);
}

TEST(Frame, IsFoundThroughTheValuesInIt) {
  const auto frame = Frame::create(list_of(1), 1);
  frame->tensors()[0] = Tensor::scalar(1.0);
  const Value root = Frame::root(frame);
  EXPECT_EQ(Frame::of(root), frame.get());
  EXPECT_EQ(Frame::of(root[0]), nullptr);
  EXPECT_EQ(Frame::of(Value(1)), nullptr);
}

TEST(Frame, DestroysItsTensorsWithTheLastValue) {
  const auto memory = std::make_shared<double>(1.0);
  const auto structure = list_of(2);
  {
    const auto frame = Frame::create(structure, 2);
    for (Tensor& tensor : frame->tensors()) {
      tensor = Tensor::view(memory.get(), {.dtype = DType::float64}, memory);
    }
    EXPECT_EQ(memory.use_count(), 3);
    EXPECT_EQ(structure.use_count(), 2);
  }
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(structure.use_count(), 1);
}

TEST(Frame, MayHaveNoTensors) {
  const auto frame = Frame::create(list_of(0), 0);
  EXPECT_TRUE(frame->tensors().empty());
  EXPECT_EQ(Frame::root(frame).size(), 0u);
}

}  // namespace
}  // namespace modelrun
