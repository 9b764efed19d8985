// SPDX-License-Identifier: Apache-2.0
// Values of each dtype through an operator.
#include <cstring>
#include <limits>

#include "openvino_table.h"

namespace modelrun::openvino_test {
namespace {

using namespace onnxruntime_test;
using openvino_test::Call;
using plugin_test::View;

class OpenVinoDtypes : public OpenVinoTest {
 protected:
  /// A program that returns its input with another shape, [n, 1].
  modelrun_session* load_type(int type) {
    return load_text(
        Graph{.inputs = {{"x", tensor_type(type, {"n"})}},
              .outputs = {{"y", tensor_type(type, {"n", 1})}},
              .nodes = {{"Unsqueeze", {"x", "axis"}, {"y"}}},
              .initializers =
                  {Message().number(1, 1).number(2, kInt64).number(7, 1).bytes(
                      8, "axis")}}
            .text(),
        "model.onnx");
  }

  template <typename T>
  void expect_refused(int type, DLDataType dtype, T value) {
    Call call(load_type(type));
    std::vector<T> x{1, 2, value};
    call.input(0, {x.data(), dtype, {3}});
    const Result result = call.try_run();
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
    EXPECT_TRUE(has(result.text, "'x' holds " + std::to_string(value) +
                                     " at element 2, but OpenVINO computes "));
    EXPECT_TRUE(has(result.text,
                    "as int32 on a CPU: expected values from "
                    "-2147483648 to 2147483647"));
    x[2] = std::numeric_limits<std::int32_t>::max();
    call.run();
    const Fetched y = call.fetch(0);
    EXPECT_EQ(values_of<T>(y), x);
  }
};

// The CPU plugin cuts them off, and says nothing.
TEST_F(OpenVinoDtypes, IntegersThatDoNotFitAreRefused) {
  using Int64 = std::numeric_limits<std::int64_t>;
  constexpr DLDataType kInt{kDLInt, 64, 1}, kUint{kDLUInt, 64, 1};
  expect_refused<std::int64_t>(kInt64, kInt, std::int64_t{1} << 31);
  expect_refused<std::int64_t>(kInt64, kInt, -(std::int64_t{1} << 31) - 1);
  expect_refused<std::int64_t>(kInt64, kInt, Int64::max());
  expect_refused<std::uint64_t>(kUint64, kUint, std::uint64_t{1} << 63);
  expect_refused<std::uint32_t>(kUint32, {kDLUInt, 32, 1}, 0x80000000U);
}

TEST_F(OpenVinoDtypes, SmallestIntegersAreKept) {
  Call call(load_type(kInt64));
  std::vector<std::int64_t> x{std::numeric_limits<std::int32_t>::min(), -1, 0};
  call.input(0, {x, {3}});
  call.run();
  EXPECT_EQ(values_of<std::int64_t>(call.fetch(0)), x);
}

// Halves, subnormals, the largest number and infinities.
TEST_F(OpenVinoDtypes, HalfFloatsAreKeptBitForBit) {
  const std::vector<std::uint16_t> bits[] = {
      {0x3c00, 0xb800, 0x0001, 0x8000, 0x7bff, 0x7c00, 0xfc00},
      {0x3f80, 0xbf00, 0x0080, 0x8000, 0x7f7f, 0x7f80, 0xff80}};
  const DLDataType dtypes[] = {{kDLFloat, 16, 1}, {kDLBfloat, 16, 1}};
  const int types[] = {kFloat16, kBfloat16};
  for (int i = 0; i < 2; ++i) {
    SCOPED_TRACE(i == 0 ? "float16" : "bfloat16");
    Call call(load_type(types[i]));
    std::vector<std::uint16_t> x = bits[i];
    call.input(0, {x.data(), dtypes[i], {7}});
    call.run();
    const Fetched y = call.fetch(0);
    EXPECT_EQ(y->dl_tensor.dtype.code, dtypes[i].code);
    EXPECT_EQ(y->dl_tensor.dtype.bits, 16);
    EXPECT_EQ(std::memcmp(y->dl_tensor.data, x.data(), 14), 0);
  }
}

}  // namespace
}  // namespace modelrun::openvino_test
