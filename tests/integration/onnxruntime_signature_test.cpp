// SPDX-License-Identifier: Apache-2.0
// The ports of a program, as the plugin reports them.
#include "onnxruntime_table.h"

namespace modelrun::onnxruntime_test {
namespace {

using OnnxRuntimeSignature = OnnxRuntimeTest;

Graph identity_graph(const Message& type) {
  return {.inputs = {{"x", type}},
          .outputs = {{"y", type}},
          .nodes = {{"Identity", {"x"}, {"y"}}}};
}

bool at_least_1_24(modelrun_backend* backend) {
  std::string text;
  const modelrun_sink sink = sink_to(text);
  onnxruntime_table().describe(backend, nullptr, &sink, nullptr);
  return text.find("\"version\":\"1.23.") == text.npos;
}

TEST_F(OnnxRuntimeSignature, NamesDimsAndSymbolsAreTheProgramsOwn) {
  auto* session = load(
      identity_graph(tensor_type(kInt64, {"batch", 3, "s36 + 1", -1, "7"})));
  const auto& ports = signature(session);
  ASSERT_EQ(ports.input_count, 1U);
  ASSERT_EQ(ports.output_count, 1U);
  EXPECT_EQ(ports.state_count, 0U);
  EXPECT_EQ(ports.struct_size, sizeof(modelrun_signature));
  EXPECT_EQ(ports.port_size, sizeof(modelrun_port));
  const modelrun_port& x = ports.inputs[0];
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.dtype.code, kDLInt);
  EXPECT_EQ(x.dtype.bits, 64);
  ASSERT_EQ(x.rank, 5);
  EXPECT_EQ(x.dims[0], -1);
  EXPECT_STREQ(x.symbols[0], "batch");
  EXPECT_EQ(x.dims[1], 3);
  EXPECT_EQ(x.symbols[1], nullptr);
  EXPECT_EQ(x.dims[2], -1);
  EXPECT_STREQ(x.symbols[2], "s36 + 1");
  EXPECT_EQ(x.dims[3], -1);
  EXPECT_EQ(x.symbols[3], nullptr);
  // A number written as a symbol is a number.
  EXPECT_EQ(x.dims[4], 7);
  EXPECT_EQ(x.symbols[4], nullptr);
}

TEST_F(OnnxRuntimeSignature, ScalarIsToldFromUnknownRank) {
  auto* scalar = load(identity_graph(tensor_type(kFloat, {})));
  EXPECT_EQ(signature(scalar).inputs[0].rank, at_least_1_24(backend) ? 0 : -1);
  auto* unranked = load(identity_graph(unranked_type(kFloat)));
  EXPECT_EQ(signature(unranked).inputs[0].rank, -1);
}

TEST_F(OnnxRuntimeSignature, InputWithADefaultIsNoInput) {
  Graph graph{
      .inputs = {{"x", tensor_type(kFloat, {2})},
                 {"w", tensor_type(kFloat, {2})}},
      .outputs = {{"y", tensor_type(kFloat, {2})}},
      .nodes = {{"Add", {"x", "w"}, {"y"}}},
      .initializers = {initializer("w", kFloat, {2}, raw<float>({10, 20}))}};
  auto* session = load(graph);
  ASSERT_EQ(signature(session).input_count, 1U);
  EXPECT_STREQ(signature(session).inputs[0].name, "x");
  std::vector<float> x{1, 2};
  Call call(session);
  call.input(0, {x, {2}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (std::vector<float>{11, 22}));
}

TEST_F(OnnxRuntimeSignature, PortsThatAreNoTensorsOfNumbersAreRefusedByName) {
  Result result = try_load(identity_graph(tensor_type(kString, {2})));
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "input 'x' is of ONNX type tensor of string"));

  const Message element = tensor_type(kFloat, {2});
  const Message sequence = Message().message(4, Message().message(1, element));
  result = try_load({.inputs = {{"x", element}},
                     .outputs = {{"list", sequence}},
                     .nodes = {{"SequenceConstruct", {"x"}, {"list"}}}});
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "output 'list' is of ONNX type sequence"));

  const Message optional = Message().message(9, Message().message(1, element));
  result = try_load({.inputs = {{"x", element}},
                     .outputs = {{"maybe", optional}},
                     .nodes = {{"Optional", {"x"}, {"maybe"}}}});
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "output 'maybe' is of ONNX type optional"));
}

}  // namespace
}  // namespace modelrun::onnxruntime_test
