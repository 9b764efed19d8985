// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backend/signature.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

constexpr std::int64_t kDims[] = {-1, 4};
const char* const kSymbols[] = {"batch", nullptr};
const char* const kAliases[] = {"x.0"};

modelrun_port port_named(const char* name) {
  modelrun_port port{};
  port.name = name;
  port.dtype = {kDLInt, 64, 1};
  port.rank = 2;
  port.dims = kDims;
  return port;
}

modelrun_signature signature_of(const modelrun_port* inputs,
                                std::size_t count) {
  modelrun_signature signature{};
  signature.struct_size = sizeof(modelrun_signature);
  signature.port_size = sizeof(modelrun_port);
  signature.inputs = inputs;
  signature.input_count = count;
  return signature;
}

std::string refusal(const modelrun_signature& signature) {
  try {
    (void)copy_signature(&signature, "/m.onnx");
  } catch (const BackendError& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(const modelrun_port& port) {
  return refusal(signature_of(&port, 1));
}

TEST(CopySignature, KeepsAllThatAPortSays) {
  modelrun_port port = port_named("x");
  port.symbols = kSymbols;
  port.aliases = kAliases;
  port.alias_count = 1;
  const auto raw = signature_of(&port, 1);
  const Signature copy = copy_signature(&raw, "/m.onnx");
  ASSERT_EQ(copy.inputs.size(), 1U);
  const Port& x = copy.inputs[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.aliases, std::vector<std::string>{"x.0"});
  EXPECT_EQ(x.dtype, DType::int64);
  EXPECT_TRUE(x.ranked);
  EXPECT_EQ(x.dims, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(x.symbols, (std::vector<std::string>{"batch", ""}));
}

TEST(CopySignature, OfAnUnrankedAndAScalarPortTellsThemApart) {
  modelrun_port ports[2] = {port_named("any"), port_named("scalar")};
  ports[0].rank = -1;
  ports[0].dims = nullptr;
  ports[1].rank = 0;
  ports[1].dims = nullptr;
  const auto raw = signature_of(ports, 2);
  const Signature copy = copy_signature(&raw, "/m.onnx");
  EXPECT_FALSE(copy.inputs[0].ranked);
  EXPECT_TRUE(copy.inputs[1].ranked);
  EXPECT_TRUE(copy.inputs[1].dims.empty());
}

TEST(CopySignature, StepsByThePluginsOwnPortSize) {
  struct Longer {
    modelrun_port port;
    void* more[3];
  };
  Longer ports[2] = {{port_named("a"), {}}, {port_named("b"), {}}};
  auto raw = signature_of(&ports[0].port, 2);
  raw.port_size = sizeof(Longer);
  const Signature copy = copy_signature(&raw, "/m.onnx");
  EXPECT_EQ(copy.inputs[0].name, "a");
  EXPECT_EQ(copy.inputs[1].name, "b");
}

TEST(CopySignature, KnowsEveryDType) {
  const std::pair<DLDataType, DType> types[] = {
      {{kDLBool, 8, 1}, DType::bool_},
      {{kDLUInt, 8, 1}, DType::uint8},
      {{kDLUInt, 16, 1}, DType::uint16},
      {{kDLUInt, 32, 1}, DType::uint32},
      {{kDLUInt, 64, 1}, DType::uint64},
      {{kDLInt, 8, 1}, DType::int8},
      {{kDLInt, 16, 1}, DType::int16},
      {{kDLInt, 32, 1}, DType::int32},
      {{kDLInt, 64, 1}, DType::int64},
      {{kDLFloat, 16, 1}, DType::float16},
      {{kDLBfloat, 16, 1}, DType::bfloat16},
      {{kDLFloat, 32, 1}, DType::float32},
      {{kDLFloat, 64, 1}, DType::float64},
      {{kDLUInt, 4, 1}, DType::uint4},
      {{kDLInt, 4, 1}, DType::int4},
  };
  for (const auto& [raw_type, dtype] : types) {
    modelrun_port port = port_named("x");
    port.dtype = raw_type;
    const auto raw = signature_of(&port, 1);
    EXPECT_EQ(copy_signature(&raw, "/m.onnx").inputs[0].dtype, dtype);
  }
}

TEST(CopySignature, OfAnUnknownDTypeNamesThePort) {
  for (const DLDataType dtype :
       {DLDataType{kDLComplex, 64, 1}, DLDataType{kDLFloat, 32, 4}}) {
    modelrun_port port = port_named("x");
    port.dtype = dtype;
    const auto raw = signature_of(&port, 1);
    try {
      (void)copy_signature(&raw, "/m.onnx");
      FAIL();
    } catch (const Unsupported& error) {
      EXPECT_EQ(error.what(),
                "input 'x' of /m.onnx has a dtype that modelrun does not know "
                "(DLPack code " +
                    std::to_string(dtype.code) + ", " +
                    std::to_string(dtype.bits) + " bits, lanes " +
                    std::to_string(dtype.lanes) + ")");
    }
  }
}

TEST(CopySignature, OfNoneIsRefused) {
  EXPECT_THROW((void)copy_signature(nullptr, "/m.onnx"), BackendError);
}

TEST(CopySignature, OfOtherSizesIsRefused) {
  const modelrun_port port = port_named("x");
  auto raw = signature_of(&port, 1);
  raw.port_size = 8;
  EXPECT_EQ(refusal(raw),
            "signature of /m.onnx: expected a struct of at least " +
                std::to_string(sizeof(modelrun_signature)) +
                " bytes and ports of " + std::to_string(sizeof(modelrun_port)) +
                ", got " + std::to_string(sizeof(modelrun_signature)) +
                " and 8");
  raw.port_size = sizeof(modelrun_port) + 1;
  EXPECT_NE(refusal(raw), "accepted");
  raw = signature_of(&port, 1);
  raw.struct_size = 16;
  EXPECT_NE(refusal(raw), "accepted");
}

TEST(CopySignature, OfAbsurdCountsReadsNothing) {
  const modelrun_port port = port_named("x");
  EXPECT_EQ(refusal(signature_of(&port, SIZE_MAX)),
            "signature of /m.onnx says that it has 18446744073709551615 "
            "inputs");
  EXPECT_EQ(refusal(signature_of(nullptr, 1)),
            "signature of /m.onnx says that it has 1 inputs");
}

TEST(CopySignature, OfABrokenPortSaysWhichAndWhy) {
  modelrun_port port = port_named(nullptr);
  EXPECT_EQ(refusal(port), "signature of /m.onnx: input 0 has no name");
  port = port_named("x");
  port.rank = 65;
  EXPECT_EQ(refusal(port),
            "signature of /m.onnx: input 0 has rank 65, expected -1 to 64");
  port.rank = -2;
  EXPECT_EQ(refusal(port),
            "signature of /m.onnx: input 0 has rank -2, expected -1 to 64");
  port = port_named("x");
  port.dims = nullptr;
  EXPECT_EQ(refusal(port),
            "signature of /m.onnx: input 0 has a rank and no dimensions");
  constexpr std::int64_t kNegative[] = {1, -2};
  port.dims = kNegative;
  EXPECT_EQ(refusal(port),
            "signature of /m.onnx: input 0 has the dimension -2 on axis 1");
  port = port_named("x");
  port.alias_count = 3;
  EXPECT_EQ(refusal(port),
            "signature of /m.onnx: input 0 says that it has 3 aliases");
  const char* const none[] = {nullptr};
  port.aliases = none;
  port.alias_count = 1;
  EXPECT_EQ(refusal(port),
            "signature of /m.onnx: input 0 has an alias without text");
}

}  // namespace
}  // namespace modelrun
