// SPDX-License-Identifier: Apache-2.0
#include "modelrun/device.h"

#include <gtest/gtest.h>

#include <string>

#include "modelrun/error.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::error_of;

TEST(Device, IsTheCpuByDefault) {
  EXPECT_EQ(Device{}, Device(DeviceType::cpu, 0));
  EXPECT_EQ(to_string(Device{}), "cpu");
}

TEST(Device, NamesAreReadAsUsersTypeThem) {
  EXPECT_EQ(Device::from_string("cpu"), Device(DeviceType::cpu));
  EXPECT_EQ(Device::from_string("cuda"), Device(DeviceType::cuda, 0));
  EXPECT_EQ(Device::from_string("cuda:0"), Device::from_string("cuda"));
  EXPECT_EQ(Device::from_string("cuda:1"), Device(DeviceType::cuda, 1));
  EXPECT_EQ(Device::from_string("xpu:12"), Device(DeviceType::xpu, 12));
  EXPECT_EQ(Device::from_string("npu"), Device(DeviceType::npu));
  EXPECT_EQ(Device::from_string("auto"), Device(DeviceType::automatic));
}

TEST(Device, ATextComesBackAsItWas) {
  for (const char* text : {"cpu", "cuda", "cuda:1", "xpu", "xpu:7", "npu",
                           "npu:2", "auto", "cuda:2147483647"}) {
    EXPECT_EQ(to_string(Device::from_string(text)), text);
  }
}

TEST(Device, DiffersByTypeAndByIndex) {
  EXPECT_FALSE(Device(DeviceType::cuda, 0) == Device(DeviceType::cuda, 1));
  EXPECT_FALSE(Device(DeviceType::cuda, 0) == Device(DeviceType::xpu, 0));
}

TEST(Device, AnythingElseIsRefusedWithItsText) {
  for (const std::string text : {"",
                                 ":",
                                 ":0",
                                 "gpu",
                                 "CPU",
                                 "Cuda",
                                 " cpu",
                                 "cpu ",
                                 "cuda:",
                                 "cuda:-1",
                                 "cuda:+1",
                                 "cuda: 1",
                                 "cuda:1x",
                                 "cuda:0x1",
                                 "cuda:1:2",
                                 "cuda:one",
                                 "cuda:2147483648",
                                 "cuda:99999999999999999999",
                                 "cuda1",
                                 "automatic",
                                 "cpu,cuda",
                                 "cud"}) {
    EXPECT_EQ(
        error_of<InvalidArgument>([&] { return Device::from_string(text); }),
        "unknown device '" + text +
            "': expected cpu, cuda, xpu, npu or auto, with an index "
            "where there are several, such as cuda:1");
  }
}

TEST(Device, ANulByteIsNotTheEnd) {
  EXPECT_THROW((void)Device::from_string({"cpu\0", 4}), InvalidArgument);
  EXPECT_THROW((void)Device::from_string({"cuda:1\0", 7}), InvalidArgument);
}

TEST(Device, OnlyTheViewedTextIsRead) {
  const std::string_view text = "cuda:123";
  EXPECT_EQ(Device::from_string(text.substr(0, 6)),
            Device(DeviceType::cuda, 1));
}

}  // namespace
}  // namespace modelrun
