// SPDX-License-Identifier: Apache-2.0
#include "core/dlpack.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "modelrun/error.h"
#include "modelrun/tensor.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::error_of;

bool same(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

TEST(DLPackDType, EveryOneComesBack) {
  for (int i = 0; i <= static_cast<int>(DType::int4); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_dlpack(to_dlpack(dtype)), dtype) << name(dtype);
    EXPECT_EQ(to_dlpack(dtype).bits, bits(dtype)) << name(dtype);
  }
}

TEST(DLPackDType, HasTheStandardsCodes) {
  EXPECT_TRUE(same(to_dlpack(DType::bool_), {kDLBool, 8, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::uint8), {kDLUInt, 8, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::uint64), {kDLUInt, 64, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::int8), {kDLInt, 8, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::int64), {kDLInt, 64, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::float16), {kDLFloat, 16, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::bfloat16), {kDLBfloat, 16, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::float64), {kDLFloat, 64, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::uint4), {kDLUInt, 4, 1}));
  EXPECT_TRUE(same(to_dlpack(DType::int4), {kDLInt, 4, 1}));
}

TEST(DLPackDType, OthersAreNone) {
  for (const DLDataType dtype :
       {DLDataType{kDLFloat, 32, 4}, DLDataType{kDLFloat, 32, 0},
        DLDataType{kDLFloat, 128, 1}, DLDataType{kDLComplex, 64, 1},
        DLDataType{kDLBool, 1, 1}, DLDataType{kDLInt, 2, 1},
        DLDataType{kDLFloat8_e4m3fn, 8, 1}, DLDataType{kDLOpaqueHandle, 64, 1},
        DLDataType{255, 8, 1}}) {
    EXPECT_EQ(dtype_from_dlpack(dtype), std::nullopt);
  }
}

TEST(DLPackDevice, ComesBackWithItsIndex) {
  for (const Device device :
       {Device{}, Device{DeviceType::cuda, 0}, Device{DeviceType::cuda, 3},
        Device{DeviceType::xpu, 1}}) {
    EXPECT_EQ(device_from_dlpack(to_dlpack(device)), device);
  }
  EXPECT_EQ(to_dlpack(Device{DeviceType::cuda, 3}).device_type, kDLCUDA);
  EXPECT_EQ(to_dlpack(Device{DeviceType::xpu}).device_type, kDLOneAPI);
  EXPECT_EQ(to_dlpack(Device{DeviceType::npu}).device_type, kDLExtDev);
}

TEST(DLPackDevice, PinnedHostMemoryIsTheCpus) {
  EXPECT_EQ(device_from_dlpack({kDLCUDAHost, 1}), Device{});
}

TEST(DLPackDevice, OthersAreNone) {
  EXPECT_EQ(device_from_dlpack({kDLMetal, 0}), std::nullopt);
  EXPECT_EQ(device_from_dlpack({kDLROCM, 0}), std::nullopt);
  EXPECT_EQ(device_from_dlpack({kDLExtDev, 0}), std::nullopt);
}

void set_version(DLManagedTensorVersioned& managed) {
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
}
void set_version(DLManagedTensor&) {}

/// A tensor of a producer, which counts how often it is deleted.
template <typename Managed>
struct Producer {
  Producer() {
    set_version(managed);
    managed.dl_tensor = {.data = memory.data(),
                         .device = {kDLCPU, 0},
                         .ndim = 2,
                         .dtype = {kDLInt, 32, 1},
                         .shape = shape.data(),
                         .strides = nullptr,
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      ++static_cast<Producer*>(self->manager_ctx)->deleted;
    };
  }

  std::string refusal() {
    return error_of<Error>([&] { return Tensor::from_dlpack(&managed); });
  }

  std::array<std::int32_t, 6> memory{0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 2> shape{2, 3};
  std::array<std::int64_t, 2> strides{3, 1};
  Managed managed{};
  int deleted = 0;
};

Tensor owned(DLManagedTensorVersioned* managed) {
  return Tensor::from_dlpack(managed);
}

template <typename Managed>
Managed* exported(const Tensor& tensor) {
  if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
    return tensor.to_dlpack_unversioned();
  } else {
    return tensor.to_dlpack();
  }
}

template <typename Managed>
class DLPack : public ::testing::Test {};

using Structs = ::testing::Types<DLManagedTensor, DLManagedTensorVersioned>;
TYPED_TEST_SUITE(DLPack, Structs);

TYPED_TEST(DLPack, AnImportSharesTheProducersMemory) {
  Producer<TypeParam> producer;
  const Tensor tensor = Tensor::from_dlpack(&producer.managed);
  EXPECT_EQ(tensor.raw_data(), producer.memory.data());
  EXPECT_EQ(tensor.dtype(), DType::int32);
  EXPECT_EQ(tensor.shape(), Shape({2, 3}));
  EXPECT_TRUE(tensor.is_contiguous());
}

TYPED_TEST(DLPack, TheDeleterRunsOnceWhenTheLastTensorGoes) {
  Producer<TypeParam> producer;
  {
    Tensor tensor = Tensor::from_dlpack(&producer.managed);
    const Tensor copy = tensor;
    tensor = {};
    EXPECT_EQ(producer.deleted, 0);
  }
  EXPECT_EQ(producer.deleted, 1);
}

TYPED_TEST(DLPack, AMissingDeleterIsNotCalled) {
  Producer<TypeParam> producer;
  producer.managed.deleter = nullptr;
  (void)Tensor::from_dlpack(&producer.managed);
  EXPECT_EQ(producer.deleted, 0);
}

TYPED_TEST(DLPack, StridesAndByteOffsetAreHeeded) {
  Producer<TypeParam> producer;
  producer.shape = {3, 1};
  producer.strides = {-2, 1};
  producer.managed.dl_tensor.strides = producer.strides.data();
  producer.managed.dl_tensor.byte_offset = 5 * sizeof(std::int32_t);
  const Tensor tensor = Tensor::from_dlpack(&producer.managed);
  EXPECT_EQ(tensor.strides(), Shape({-2, 1}));
  EXPECT_TRUE(equal(tensor, Tensor::from<std::int32_t>({5, 3, 1}, {3, 1})));
}

TYPED_TEST(DLPack, AnImportReadsNothingOfTheStructAfterwards) {
  Producer<TypeParam> producer;
  producer.managed.dl_tensor.strides = producer.strides.data();
  const Tensor tensor = Tensor::from_dlpack(&producer.managed);
  producer.shape = {-1, -1};
  producer.strides = {9, 9};
  EXPECT_EQ(tensor.shape(), Shape({2, 3}));
  EXPECT_TRUE(tensor.is_contiguous());
}

TYPED_TEST(DLPack, ATensorOfRankZeroNeedsNoShape) {
  Producer<TypeParam> producer;
  producer.managed.dl_tensor.ndim = 0;
  producer.managed.dl_tensor.shape = nullptr;
  const Tensor tensor = Tensor::from_dlpack(&producer.managed);
  EXPECT_EQ(tensor.rank(), 0u);
  EXPECT_EQ(tensor.item<std::int32_t>(), 0);
}

TYPED_TEST(DLPack, AnEmptyTensorNeedsNoMemory) {
  Producer<TypeParam> producer;
  producer.shape = {2, 0};
  producer.managed.dl_tensor.data = nullptr;
  producer.managed.dl_tensor.byte_offset = 64;
  const Tensor tensor = Tensor::from_dlpack(&producer.managed);
  EXPECT_EQ(tensor.shape(), Shape({2, 0}));
  EXPECT_EQ(tensor.raw_data(), nullptr);
}

TYPED_TEST(DLPack, ARefusedTensorStaysTheCallers) {
  Producer<TypeParam> producer;
  DLTensor& dl = producer.managed.dl_tensor;
  const DLTensor good = dl;
  dl.dtype = {kDLComplex, 64, 2};
  EXPECT_EQ(producer.refusal(),
            "a DLPack tensor of type code 5, 64 bits, 2 lanes has no modelrun "
            "dtype");
  dl = good;
  dl.device = {kDLMetal, 0};
  EXPECT_EQ(producer.refusal(),
            "a DLPack tensor on device type 8 is not on a device that modelrun "
            "knows");
  dl = good;
  dl.shape = nullptr;
  EXPECT_EQ(producer.refusal(), "a DLPack tensor of rank 2 has no valid shape");
  dl = good;
  dl.ndim = -1;
  EXPECT_EQ(producer.refusal(),
            "a DLPack tensor of rank -1 has no valid shape");
  dl = good;
  dl.data = nullptr;
  EXPECT_EQ(producer.refusal(), "a view of 6 elements at a null address");
  dl = good;
  producer.shape = {2, -3};
  EXPECT_EQ(producer.refusal(), "a shape of [2, -3] has a negative size");
  producer.shape = {std::numeric_limits<std::int64_t>::max(), 2};
  EXPECT_EQ(producer.refusal(),
            "a shape of [9223372036854775807, 2] has too many elements");
  EXPECT_EQ(producer.deleted, 0);
}

TYPED_TEST(DLPack, ARefusalIsOfItsKind) {
  Producer<TypeParam> producer;
  producer.managed.dl_tensor.dtype.code = kDLOpaqueHandle;
  EXPECT_THROW((void)Tensor::from_dlpack(&producer.managed), Unsupported);
  producer.managed.dl_tensor.dtype = {kDLInt, 4, 1};
  producer.strides = {1, 2};
  producer.managed.dl_tensor.strides = producer.strides.data();
  EXPECT_THROW((void)Tensor::from_dlpack(&producer.managed), Unsupported);
  EXPECT_EQ(producer.deleted, 0);
}

TYPED_TEST(DLPack, AnExportDescribesTheTensor) {
  const auto tensor = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  auto* managed = exported<TypeParam>(tensor);
  const DLTensor& dl = managed->dl_tensor;
  EXPECT_EQ(dl.data, tensor.raw_data());
  EXPECT_EQ(dl.device.device_type, kDLCPU);
  EXPECT_EQ(dl.device.device_id, 0);
  ASSERT_EQ(dl.ndim, 2);
  EXPECT_TRUE(same(dl.dtype, {kDLFloat, 32, 1}));
  EXPECT_EQ(dl.shape[0], 2);
  EXPECT_EQ(dl.shape[1], 3);
  // Consumers of DLPack 1.2 may rely on strides.
  ASSERT_NE(dl.strides, nullptr);
  EXPECT_EQ(dl.strides[0], 3);
  EXPECT_EQ(dl.strides[1], 1);
  EXPECT_EQ(dl.byte_offset, 0u);
  managed->deleter(managed);
}

TYPED_TEST(DLPack, AnExportKeepsTheMemoryUntilItsDeleter) {
  auto memory = std::make_shared<float>(1.5f);
  const std::weak_ptr<float> alive = memory;
  float* const address = memory.get();
  auto* managed = exported<TypeParam>(
      Tensor::view(address, {.shape = {1}}, std::move(memory)));
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(*static_cast<float*>(managed->dl_tensor.data), 1.5f);
  managed->deleter(managed);
  EXPECT_TRUE(alive.expired());
}

TYPED_TEST(DLPack, ARoundTripSharesAndFreesTheMemory) {
  auto memory = std::make_shared<std::array<float, 6>>();
  const std::weak_ptr<std::array<float, 6>> alive = memory;
  float* const address = memory->data();
  auto tensor = Tensor::view(address, {.shape = {3, 2}, .strides = {1, 3}},
                             std::move(memory));
  auto back = Tensor::from_dlpack(exported<TypeParam>(tensor));
  EXPECT_EQ(back.raw_data(), address);
  EXPECT_EQ(back.strides(), Shape({1, 3}));
  EXPECT_TRUE(equal(back, tensor));
  tensor = {};
  EXPECT_FALSE(alive.expired());
  back = {};
  EXPECT_TRUE(alive.expired());
}

TYPED_TEST(DLPack, EveryDTypeAndRankComesBack) {
  for (int i = 0; i <= static_cast<int>(DType::int4); ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const Shape& shape :
         {Shape{}, Shape{3}, Shape{2, 0, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      const auto tensor = Tensor::zeros(dtype, shape);
      const auto back = Tensor::from_dlpack(exported<TypeParam>(tensor));
      EXPECT_EQ(to_string(back), to_string(tensor));
      EXPECT_TRUE(back.is_contiguous());
      EXPECT_TRUE(equal(back, tensor));
    }
  }
}

TYPED_TEST(DLPack, AnEmptyOrRankZeroExportHasNullPointers) {
  auto* scalar = exported<TypeParam>(Tensor::scalar(1.0));
  EXPECT_EQ(scalar->dl_tensor.ndim, 0);
  EXPECT_EQ(scalar->dl_tensor.shape, nullptr);
  EXPECT_EQ(scalar->dl_tensor.strides, nullptr);
  EXPECT_NE(scalar->dl_tensor.data, nullptr);
  scalar->deleter(scalar);
  const std::int64_t large = std::int64_t{1} << 40;
  auto* empty =
      exported<TypeParam>(Tensor::empty(DType::int8, {0, large, large}));
  EXPECT_EQ(empty->dl_tensor.data, nullptr);
  EXPECT_EQ(empty->dl_tensor.shape[2], large);
  empty->deleter(empty);
}

TYPED_TEST(DLPack, AnUndefinedTensorIsNotExported) {
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return exported<TypeParam>(Tensor()); }),
      "cannot pass on an undefined tensor through DLPack");
}

using Versioned = Producer<DLManagedTensorVersioned>;

TEST(DLPackVersioned, AnotherMajorVersionIsRefusedAndLeft) {
  Versioned producer;
  producer.managed.version.major = DLPACK_MAJOR_VERSION + 1;
  EXPECT_EQ(error_of<Unsupported>([&] { return owned(&producer.managed); }),
            "a DLPack tensor of version 2 cannot be read: expected version 1");
  EXPECT_EQ(producer.deleted, 0);
}

TEST(DLPackVersioned, AnotherMinorVersionIsRead) {
  Versioned producer;
  producer.managed.version.minor = DLPACK_MINOR_VERSION + 5;
  EXPECT_EQ(owned(&producer.managed).element_count(), 6);
  EXPECT_EQ(producer.deleted, 1);
}

TEST(DLPackVersioned, PaddedElementsAreRefusedAndLeft) {
  Versioned producer;
  producer.managed.dl_tensor.dtype = {kDLUInt, 4, 1};
  producer.managed.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  EXPECT_EQ(error_of<Unsupported>([&] { return owned(&producer.managed); }),
            "a DLPack tensor of padded 4-bit elements: expected packed ones");
  EXPECT_EQ(producer.deleted, 0);
  producer.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  EXPECT_EQ(owned(&producer.managed).byte_size(), 3u);
}

TEST(DLPackVersioned, AnExportSaysItsVersion) {
  auto* managed = Tensor::scalar(1.0f).to_dlpack();
  EXPECT_EQ(managed->version.major,
            static_cast<std::uint32_t>(DLPACK_MAJOR_VERSION));
  EXPECT_EQ(managed->version.minor,
            static_cast<std::uint32_t>(DLPACK_MINOR_VERSION));
  EXPECT_EQ(managed->flags, 0u);
  managed->deleter(managed);
}

}  // namespace
}  // namespace modelrun
