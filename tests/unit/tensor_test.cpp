// SPDX-License-Identifier: Apache-2.0
#include "modelrun/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "modelrun/error.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::error_of;

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<const T>();
  return {data.begin(), data.end()};
}

bool is_aligned(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.raw_data()) %
             Tensor::kAlignment ==
         0;
}

TEST(Tensor, IsUndefinedByDefault) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(tensor.element_count(), 0);
  EXPECT_EQ(tensor.byte_size(), 0u);
  EXPECT_EQ(tensor.raw_data(), nullptr);
  EXPECT_EQ(to_string(tensor), "an undefined tensor");
  EXPECT_FALSE(tensor.contiguous().defined());
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.data<float>(); }),
            "cannot read an undefined tensor");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.clone(); }),
            "cannot copy an undefined tensor");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.item<float>(); }),
            "item() needs a tensor of one element, got an undefined tensor");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return equal(tensor, tensor); }),
            "cannot compare an undefined tensor");
}

TEST(Tensor, FromValuesHoldsACopy) {
  std::vector<std::int64_t> values{101, 7592, 102};
  const auto tensor =
      Tensor::from(std::span<const std::int64_t>(values), {1, 3});
  values[1] = 0;
  EXPECT_TRUE(tensor.defined());
  EXPECT_EQ(tensor.dtype(), DType::int64);
  EXPECT_EQ(tensor.shape(), Shape({1, 3}));
  EXPECT_EQ(tensor.rank(), 2u);
  EXPECT_EQ(tensor.element_count(), 3);
  EXPECT_EQ(tensor.byte_size(), 24u);
  EXPECT_EQ(tensor.device(), Device{});
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_TRUE(tensor.strides().empty());
  EXPECT_EQ(values_of<std::int64_t>(tensor),
            (std::vector<std::int64_t>{101, 7592, 102}));
  EXPECT_EQ(to_string(tensor), "int64[1, 3] on cpu");
}

TEST(Tensor, FromRefusesAnotherNumberOfValues) {
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return Tensor::from<float>({1, 2, 3}, {2, 2}); }),
            "3 values do not fill a shape of [2, 2]");
  EXPECT_THROW((void)Tensor::from<float>({}, {}), InvalidArgument);
  EXPECT_THROW((void)Tensor::from<float>({1}, {-1}), InvalidArgument);
}

TEST(Tensor, OwnMemoryIsAlignedForEverySize) {
  for (std::int64_t size : {0, 1, 3, 63, 64, 65, 1000}) {
    EXPECT_TRUE(is_aligned(Tensor::empty(DType::uint8, {size})));
    EXPECT_TRUE(is_aligned(Tensor::zeros(DType::float64, {size})));
    EXPECT_TRUE(is_aligned(Tensor::zeros(DType::int4, {size}).clone()));
  }
}

TEST(Tensor, ZerosAreZero) {
  const auto tensor = Tensor::zeros(DType::float32, {3, 5});
  EXPECT_EQ(values_of<float>(tensor), std::vector<float>(15, 0.0f));
}

TEST(Tensor, ScalarIsOfRankZero) {
  const auto tensor = Tensor::scalar(2.5);
  EXPECT_EQ(tensor.rank(), 0u);
  EXPECT_EQ(tensor.element_count(), 1);
  EXPECT_EQ(tensor.item<double>(), 2.5);
  EXPECT_EQ(to_string(tensor), "float64[] on cpu");
  EXPECT_TRUE(Tensor::scalar(true).item<bool>());
}

TEST(Tensor, SizesThatDoNotFitAreRefusedBeforeAllocating) {
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return Tensor::empty(DType::float32, {-2}); }),
            "a shape of [-2] has a negative size");
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return Tensor::zeros(DType::float32, {kMax, 2}); }),
            "a shape of [9223372036854775807, 2] has too many elements");
  EXPECT_EQ(
      error_of<InvalidArgument>(
          [] { return Tensor::empty(DType::float64, {kMax / 8}); }),
      "a tensor of 1152921504606846975 float64 elements has no valid size");
}

TEST(Tensor, CopiesShareTheirElements) {
  const auto tensor = Tensor::zeros(DType::int32, {2});
  const Tensor copy = tensor;
  tensor.data<std::int32_t>()[1] = 7;
  EXPECT_EQ(values_of<std::int32_t>(copy), (std::vector<std::int32_t>{0, 7}));
  EXPECT_EQ(copy.raw_data(), tensor.raw_data());
}

TEST(Tensor, ACloneDoesNotShare) {
  const auto tensor = Tensor::from<std::int32_t>({1, 2}, {2});
  const Tensor copy = tensor.clone();
  tensor.data<std::int32_t>()[0] = 7;
  EXPECT_EQ(values_of<std::int32_t>(copy), (std::vector<std::int32_t>{1, 2}));
  EXPECT_NE(copy.owner(), tensor.owner());
}

TEST(Tensor, ContiguousIsItselfWhenItIs) {
  const auto tensor = Tensor::from<std::int32_t>({1, 2}, {2});
  EXPECT_EQ(tensor.contiguous().raw_data(), tensor.raw_data());
}

TEST(TensorData, AnotherDTypeIsRefused) {
  const auto tensor = Tensor::zeros(DType::float16, {2});
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.data<float>(); }),
            "cannot read a tensor of float16 as float32");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.data<BFloat16>(); }),
            "cannot read a tensor of float16 as bfloat16");
  EXPECT_EQ(
      error_of<InvalidArgument>([&] { return tensor.data<std::uint16_t>(); }),
      "cannot read a tensor of float16 as uint16");
  EXPECT_EQ(tensor.data<Float16>().size(), 2u);
}

TEST(TensorData, BoolIsNotUint8) {
  const auto mask = Tensor::from<bool>({true, false, true}, {3});
  EXPECT_EQ(mask.dtype(), DType::bool_);
  EXPECT_EQ(
      error_of<InvalidArgument>([&] { return mask.data<std::uint8_t>(); }),
      "cannot read a tensor of bool as uint8");
}

TEST(TensorData, OfAnotherDeviceIsRefused) {
  int memory = 0;
  const auto tensor = Tensor::view(
      &memory, {.dtype = DType::int32, .device = {DeviceType::cuda, 1}});
  EXPECT_EQ(tensor.device(), Device(DeviceType::cuda, 1));
  EXPECT_EQ(to_string(tensor), "int32[] on cuda:1");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.data<int>(); }),
            "cannot read a tensor on cuda:1 from the host: move it to the cpu "
            "first");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.clone(); }),
            "cannot copy a tensor on cuda:1 from the host: move it to the cpu "
            "first");
  EXPECT_EQ(error_of<InvalidArgument>([&] { return equal(tensor, tensor); }),
            "cannot compare a tensor on cuda:1 from the host: move it to the "
            "cpu first");
  EXPECT_EQ(tensor.contiguous().raw_data(), &memory);
}

TEST(TensorData, AStridedOneIsRefused) {
  int memory[4] = {};
  const auto tensor = Tensor::view(
      memory, {.dtype = DType::int32, .shape = {2}, .strides = {2}});
  EXPECT_EQ(error_of<InvalidArgument>([&] { return tensor.data<int>(); }),
            "cannot read a strided tensor as an array: call contiguous() "
            "first");
}

TEST(TensorItem, NeedsOneElement) {
  const auto two = Tensor::zeros(DType::float32, {1, 2});
  EXPECT_EQ(error_of<InvalidArgument>([&] { return two.item<float>(); }),
            "item() needs a tensor of one element, got float32[1, 2] on cpu");
  const auto none = Tensor::zeros(DType::float32, {0});
  EXPECT_EQ(error_of<InvalidArgument>([&] { return none.item<float>(); }),
            "item() needs a tensor of one element, got float32[0] on cpu");
  EXPECT_EQ(Tensor::from<float>({3}, {1, 1}).item<float>(), 3.0f);
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return Tensor::scalar(1).item<float>(); }),
      "cannot read a tensor of int32 as float32");
}

TEST(TensorView, KeepsItsOwnerUntilTheLastCopyGoes) {
  auto memory = std::make_shared<std::vector<float>>(6, 1.5f);
  const std::weak_ptr<std::vector<float>> alive = memory;
  float* const address = memory->data();
  Tensor copy;
  {
    const auto view = Tensor::view(
        address, {.dtype = DType::float32, .shape = {2, 3}}, memory);
    memory.reset();
    copy = view;
  }
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(copy.raw_data(), address);
  EXPECT_EQ(copy.data<float>()[5], 1.5f);
  copy = {};
  EXPECT_TRUE(alive.expired());
}

TEST(TensorView, WithoutAnOwnerReadsTheCallersMemory) {
  std::array<float, 2> memory{1, 2};
  const auto view =
      Tensor::view(memory.data(), {.dtype = DType::float32, .shape = {2}});
  EXPECT_EQ(view.owner(), nullptr);
  memory[1] = 5;
  EXPECT_EQ(values_of<float>(view), (std::vector<float>{1, 5}));
  const float* const readable = memory.data();
  EXPECT_EQ(Tensor::view(readable, {.dtype = DType::float32, .shape = {2}})
                .raw_data(),
            readable);
}

TEST(TensorView, ANullAddressIsForEmptyTensorsOnly) {
  void* const nothing = nullptr;
  const auto empty =
      Tensor::view(nothing, {.dtype = DType::float16, .shape = {1, 4, 0, 8}});
  EXPECT_TRUE(empty.defined());
  EXPECT_EQ(empty.byte_size(), 0u);
  EXPECT_TRUE(empty.data<Float16>().empty());
  EXPECT_TRUE(equal(empty, empty.clone()));
  EXPECT_EQ(error_of<InvalidArgument>(
                [&] { return Tensor::view(nothing, {.shape = {2, 3}}); }),
            "a view of 6 elements at a null address");
  EXPECT_THROW((void)Tensor::view(nothing, {}), InvalidArgument);
}

TEST(TensorView, StridesOfAnotherRankAreRefused) {
  float memory[4] = {};
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              return Tensor::view(memory, {.shape = {2, 2}, .strides = {1}});
            }),
            "strides of [1] do not fit a shape of [2, 2]");
}

TEST(PackedTensor, TakesTwoElementsAByte) {
  const auto tensor = Tensor::zeros(DType::int4, {3, 3});
  EXPECT_EQ(tensor.element_count(), 9);
  EXPECT_EQ(tensor.byte_size(), 5u);
  EXPECT_EQ(to_string(tensor), "int4[3, 3] on cpu");
}

TEST(PackedTensor, IsCopiedAndComparedByItsBytes) {
  std::array<std::uint8_t, 2> memory{0x21, 0x43};
  const auto view =
      Tensor::view(memory.data(), {.dtype = DType::uint4, .shape = {4}});
  const auto copy = view.clone();
  EXPECT_TRUE(equal(view, copy));
  memory[1] = 0x53;
  EXPECT_FALSE(equal(view, copy));
  EXPECT_EQ(static_cast<const std::uint8_t*>(copy.raw_data())[1], 0x43);
}

TEST(PackedTensor, AStridedViewIsRefused) {
  std::array<std::uint8_t, 4> memory{};
  EXPECT_EQ(error_of<Unsupported>([&] {
              return Tensor::view(
                  memory.data(),
                  {.dtype = DType::int4, .shape = {2, 2}, .strides = {1, 2}});
            }),
            "a strided view of packed int4 elements");
  EXPECT_TRUE(
      Tensor::view(memory.data(),
                   {.dtype = DType::int4, .shape = {2, 2}, .strides = {2, 1}})
          .is_contiguous());
}

TEST(TensorEqual, IsOfDTypeShapeAndBits) {
  const auto a = Tensor::from<float>({1, 2}, {2});
  EXPECT_TRUE(equal(a, a));
  EXPECT_TRUE(equal(a, Tensor::from<float>({1, 2}, {2})));
  EXPECT_FALSE(equal(a, Tensor::from<float>({1, 3}, {2})));
  EXPECT_FALSE(equal(a, Tensor::from<float>({1, 2}, {1, 2})));
  EXPECT_FALSE(equal(a, Tensor::from<std::int32_t>({1, 2}, {2})));
  EXPECT_FALSE(equal(a, Tensor()));
  EXPECT_FALSE(equal(Tensor::from<float>({0.0f}, {1}),
                     Tensor::from<float>({-0.0f}, {1})));
  EXPECT_TRUE(equal(Tensor::scalar(NAN), Tensor::scalar(NAN)));
}

TEST(TensorEqual, EmptyTensorsOfOneShapeAreEqual) {
  EXPECT_TRUE(equal(Tensor::empty(DType::int8, {0, 3}),
                    Tensor::empty(DType::int8, {0, 3})));
  EXPECT_FALSE(equal(Tensor::empty(DType::int8, {0, 3}),
                     Tensor::empty(DType::int8, {3, 0})));
}

// Half inputs came out as zeros, or were sized in elements instead of bytes.
template <typename Half>
void expect_halves_pass_unchanged() {
  const float values[] = {1.5f, -0.0f, INFINITY, NAN, 0x1p-24f, 65504.0f};
  std::vector<Half> halves;
  for (const float value : values) halves.emplace_back(value);
  const auto tensor = Tensor::from(std::span<const Half>(halves), {2, 3});
  EXPECT_EQ(tensor.byte_size(), 12u);
  const auto copy = tensor.clone();
  EXPECT_EQ(std::memcmp(copy.raw_data(), halves.data(), 12), 0);
  EXPECT_EQ(static_cast<float>(copy.template data<Half>()[0]), 1.5f);
}

TEST(Tensor, HalvesPassBitForBit) {
  expect_halves_pass_unchanged<Float16>();
  expect_halves_pass_unchanged<BFloat16>();
}

}  // namespace
}  // namespace modelrun
