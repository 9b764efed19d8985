// SPDX-License-Identifier: Apache-2.0
// Graphs written by hand: what an exporter may emit, one thing at a time.
#include <thread>

#include "torch_archive.h"
#include "torch_table.h"

namespace modelrun::torch_test {
namespace {

class TorchGraphs : public TorchTest {
 protected:
  Result try_program(ProgramFile& file, const std::string& options = "{}") {
    const auto path = folder / "model.pt2";
    write_file(path, file.text());
    return try_load(path, options);
  }
  modelrun_session* program_of(ProgramFile& file) {
    require_ok(try_program(file, R"({"threads": 1})"));
    return sessions.back();
  }
};

/// `y = x + 1` of `[s0, 2]`.
ProgramFile add_one() {
  ProgramFile file;
  const Json sizes = list({symbol("s0"), number(2)});
  file.input("x", sizes).value("y", sizes);
  file.node("torch.ops.aten.add.Tensor",
            {{"self", tensor("x")}, {"other", {{"as_int", 1}}}}, {tensor("y")});
  file.output(tensor("y"));
  return file;
}

TEST_F(TorchGraphs, ANumberInATensorsPlaceTakesNoPartInPromotion) {
  ProgramFile file = add_one();
  file.graph()["nodes"][0]["inputs"][1]["arg"] = {{"as_float", 0.5}};
  Call request(table(), program_of(file));
  Floats x{1, 2, 3, 4};
  request.input(0, View(x, {2, 2}));
  request.run();
  EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{1.5, 2.5, 3.5, 4.5}));
}

TEST_F(TorchGraphs, PortsHaveSymbolsAndPositions) {
  ProgramFile file = add_one();
  file.graph()["tensor_values"]["y"]["sizes"][0]["as_expr"]["expr_str"] =
      "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), "
      "Integer(-1))";
  const modelrun_signature& ports = signature(program_of(file));
  ASSERT_EQ(ports.input_count, 1U);
  EXPECT_STREQ(ports.inputs[0].name, "#0");
  EXPECT_EQ(ports.inputs[0].dims[0], -1);
  EXPECT_STREQ(ports.inputs[0].symbols[0], "s0");
  EXPECT_EQ(ports.inputs[0].dims[1], 2);
  EXPECT_EQ(ports.inputs[0].symbols[1], nullptr);
  EXPECT_STREQ(ports.outputs[0].symbols[0], "2*s0 + -1");
}

TEST_F(TorchGraphs, SizesAreReckonedAsPythonDoes) {
  ProgramFile file = add_one();
  file.node("torch.ops.aten.sym_size.int",
            {{"self", tensor("x")}, {"dim", {{"as_int", 0}}}}, {size("n")});
  file.node("_operator.sub", {{"a", {{"as_int", 0}}}, {"b", size("n")}},
            {size("minus")});
  file.node("_operator.floordiv",
            {{"a", size("minus")}, {"b", {{"as_int", 2}}}}, {size("half")});
  file.node("_operator.mod", {{"a", size("minus")}, {"b", {{"as_int", 2}}}},
            {size("rest")});
  file.node("torch.sym_max", {{"a", size("n")}, {"b", {{"as_int", 2}}}},
            {size("most")});
  for (const char* name : {"half", "rest", "most"}) file.output(size(name));
  file.output({{"as_none", true}});
  modelrun_session* session = program_of(file);
  EXPECT_STREQ(signature(session).outputs[4].constant, "null");
  EXPECT_EQ(signature(session).outputs[1].rank, 0);
  Call request(table(), session);
  Floats x(6);
  request.input(0, View(x, {3, 2}));
  request.run();
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(values_of<std::int64_t>(request.fetch(1)), Integers{-2});
  EXPECT_EQ(values_of<std::int64_t>(request.fetch(2)), Integers{1});
  EXPECT_EQ(values_of<std::int64_t>(request.fetch(3)), Integers{3});
  Fetched none;
  EXPECT_TRUE(has(request.try_fetch(4, none).text, "no tensor but null"));
}

TEST_F(TorchGraphs, AnInputThatTheGraphWritesStaysTheCallers) {
  ProgramFile file = add_one();
  file.graph()["nodes"][0]["target"] = "torch.ops.aten.add_.Tensor";
  Call request(table(), program_of(file));
  Floats x{1, 2};
  request.input(0, View(x, {1, 2}));
  for (int repeat = 0; repeat < 2; ++repeat) {
    request.run();
    EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{2, 3}));
    EXPECT_EQ(x, (Floats{1, 2}));
  }
}

/// `count`, which nodes write through two names, and an output of it.
ProgramFile counter() {
  ProgramFile file;
  file.buffer("count", {0, 10}).buffer("tied", {5, 5});
  file.config["tied"]["path_name"] = "weight_0";
  file.value("next", list({number(2)})).value("both", list({number(2)}));
  file.node("torch.ops.aten.add_.Tensor",
            {{"self", tensor("count")}, {"other", {{"as_int", 1}}}},
            {tensor("next")});
  file.node("torch.ops.aten.add.Tensor",
            {{"self", tensor("next")}, {"other", tensor("tied")}},
            {tensor("both")});
  file.output(tensor("next")).output(tensor("both"));
  return file;
}

TEST_F(TorchGraphs, EachRunBeginsWithTheExportsBuffers) {
  ProgramFile file = counter();
  modelrun_session* session = program_of(file);
  const auto run_often = [session] {
    Call request(table(), session);
    for (int run = 0; run < 50; ++run) {
      request.run();
      EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{1, 11}));
      EXPECT_EQ(values_of<float>(request.fetch(1)), (Floats{2, 22}));
    }
  };
  std::thread other(run_often);
  run_often();
  other.join();
}

TEST_F(TorchGraphs, ARunThatFailsLeavesNothingInABuffer) {
  ProgramFile file = counter();
  file.input("x", list({symbol("n")}));
  file.value("y", list({symbol("n")}));
  file.node("torch.ops.aten.add.Tensor",
            {{"self", tensor("both")}, {"other", tensor("x")}}, {tensor("y")});
  file.output(tensor("y"));
  modelrun_session* session = program_of(file);
  Call request(table(), session);
  Floats wrong{1, 2, 3};
  request.input(0, View(wrong, {3}));
  EXPECT_EQ(request.try_run().status, MODELRUN_BACKEND_ERROR);
  Floats right{1, 2};
  request.input(0, View(right, {2}));
  request.run();
  EXPECT_EQ(values_of<float>(request.fetch(2)), (Floats{3, 24}));
}

TEST_F(TorchGraphs, ABufferThatAnOutputReplacesIsTheExportsAgain) {
  ProgramFile file;
  file.buffer("count", {0, 10}).value("next", list({number(2)}));
  file.node("torch.ops.aten.add.Tensor",
            {{"self", tensor("count")}, {"other", {{"as_int", 1}}}},
            {tensor("next")});
  file.graph()["outputs"].push_back(tensor("next"));
  file.specs("output_specs")
      .push_back({{"buffer_mutation",
                   {{"arg", {{"name", "next"}}}, {"buffer_name", "count"}}}});
  file.output(tensor("count"));
  modelrun_session* session = program_of(file);
  ASSERT_EQ(signature(session).output_count, 1U);
  Call request(table(), session);
  for (int run = 0; run < 3; ++run) {
    request.run();
    EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{0, 10}));
  }
}

TEST_F(TorchGraphs, OutputsNeverShareMemory) {
  ProgramFile file = add_one();
  file.output(tensor("x")).output(tensor("y")).output(tensor("y"));
  Call request(table(), program_of(file));
  Floats x{1, 2};
  request.input(0, View(x, {1, 2}));
  request.run();
  std::vector<Fetched> fetched;
  for (std::size_t i = 0; i < 4; ++i) fetched.push_back(request.fetch(i));
  x = {7, 7};
  static_cast<float*>(fetched[0]->dl_tensor.data)[0] = 9;
  request.run();
  EXPECT_EQ(values_of<float>(fetched[1]), (Floats{1, 2}));
  EXPECT_EQ(values_of<float>(fetched[2]), (Floats{2, 3}));
  EXPECT_EQ(values_of<float>(fetched[3]), (Floats{2, 3}));
}

TEST_F(TorchGraphs, AnOutputMayBeBoundToAnInputsMemory) {
  ProgramFile file = add_one();
  file.output(tensor("x"));
  Call request(table(), program_of(file));
  Floats x{1, 2};
  Floats same(2);
  request.input(0, View(x, {1, 2}));
  request.output(0, View(x, {1, 2}));
  request.output(1, View(same, {1, 2}));
  request.run();
  EXPECT_EQ(x, (Floats{2, 3}));
  EXPECT_EQ(same, (Floats{1, 2}));
}

TEST_F(TorchGraphs, AMaximumIsEnforcedAndAMinimumOfTwoIsNot) {
  ProgramFile file = add_one();
  file.program["range_constraints"]["s0"] = {{"min_val", 2}, {"max_val", 3}};
  Call request(table(), program_of(file));
  Floats x(8);
  request.input(0, View(x, {1, 2}));
  request.run();
  request.input(0, View(x, {4, 2}));
  const Result result = request.try_run();
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(result.text,
            "input '#0' ('x'): axis 0: expected at most 3, which the export is "
            "made for, got 4");
  request.input(0, View(x, {2, 2}));
  request.run();
}

TEST_F(TorchGraphs, GuardsAreChecked) {
  ProgramFile file = add_one();
  file.input("z", list({symbol("s1")}));
  file.guard("L['x'].size()[0] == (2*L['z'].size()[0]) // 1")
      .guard("2 <= L['x'].size()[0] <= 8 and not L['z'].size()[0] > 4")
      .guard("torch.sym_max(3, L['z'].size()[0]) <= 4")
      .guard("L['x'].stride()[0] == 2");
  Call request(table(), program_of(file));
  ASSERT_EQ(host->lines.size(), 1U);
  EXPECT_TRUE(has(host->lines[0], "stride"));
  Floats x(20);
  Floats z(5);
  const auto run = [&](std::int64_t rows, std::int64_t count) {
    request.input(0, View(x, {rows, 2}));
    request.input(1, View(z, {count}));
    return request.try_run();
  };
  EXPECT_EQ(run(4, 2).status, MODELRUN_OK);
  EXPECT_TRUE(has(run(4, 3).text,
                  "input '#0' ('x') has 4 on axis 0, input '#1' ('z') has 3 on "
                  "axis 0"));
  EXPECT_EQ(run(10, 5).status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(run(0, 0).status, MODELRUN_INVALID_ARGUMENT);
}

TEST_F(TorchGraphs, ConstantsAreThoseOfTheExport) {
  ProgramFile file = add_one();
  file.graph()["inputs"].push_back({{"as_int", 3}});
  file.specs("input_specs")
      .push_back({{"constant_input",
                   {{"name", "times"}, {"value", {{"as_int", 3}}}}}});
  EXPECT_EQ(try_program(file, R"({"in_constants": [[1, 3]]})").status,
            MODELRUN_OK);
  EXPECT_EQ(signature(sessions.back()).input_count, 1U);
  const Result other = try_program(file, R"({"in_constants": [[1, 4]]})");
  EXPECT_EQ(other.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(other.text,
                  "is 4 in in_constants, but the program was made "
                  "for 3 alone"));
  EXPECT_TRUE(has(try_program(file, R"({"in_constants": [[2, 4]]})").text,
                  "the program has 2"));
}

TEST_F(TorchGraphs, AConditionChoosesAGraph) {
  ProgramFile file = add_one();
  const auto branch = [](const char* name, const char* target) {
    ProgramFile inner;
    inner.input("a", list({number(2)}));
    inner.node(target, {{"self", tensor("a")}}, {tensor("b")});
    inner.output(tensor("b"));
    return Json{{"as_graph", {{"name", name}, {"graph", inner.graph()}}}};
  };
  file.node("torch.ops.aten.sum.default", {{"self", tensor("x")}},
            {tensor("sum")});
  file.node("torch.ops.aten.gt.Scalar",
            {{"self", tensor("sum")}, {"other", {{"as_int", 0}}}},
            {tensor("positive")});
  file.value("z", list({symbol("s0"), number(2)}));
  file.node("torch.ops.higher_order.cond",
            {{"", tensor("positive")},
             {"", branch("yes", "torch.ops.aten.neg.default")},
             {"", branch("no", "torch.ops.aten.abs.default")},
             {"", {{"as_tensors", {{{"name", "x"}}}}}}},
            {tensor("z")});
  file.graph()["outputs"][0] = tensor("z");
  file.specs("output_specs")[0]["user_output"]["arg"] = tensor("z");
  Call request(table(), program_of(file));
  Floats x{1, 2};
  request.input(0, View(x, {1, 2}));
  request.run();
  EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{-1, -2}));
  x = {-1, -2};
  request.run();
  EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{1, 2}));
}

TEST_F(TorchGraphs, WhatFailsNamesItsNode) {
  ProgramFile file = add_one();
  file.node("torch.ops.aten.view.default",
            {{"self", tensor("y")}, {"size", {{"as_ints", {7}}}}},
            {tensor("seven")});
  file.graph()["outputs"][0] = tensor("seven");
  Call request(table(), program_of(file));
  Floats x(4);
  request.input(0, View(x, {2, 2}));
  const Result result = request.try_run();
  EXPECT_EQ(result.status, MODELRUN_BACKEND_ERROR);
  EXPECT_TRUE(has(result.text, "node 'n1' (torch.ops.aten.view.default): "));
  EXPECT_TRUE(has(result.text, "shape '[7]' is invalid"));
}

TEST_F(TorchGraphs, AnInputOfAnotherTypeOrRankIsRefused) {
  ProgramFile file = add_one();
  Call request(table(), program_of(file));
  EXPECT_TRUE(
      has(request.try_run().text, "nothing is bound to the inputs #0 ('x')"));
  std::vector<std::int64_t> integers(4);
  const View wrong(integers, {2, 2});
  EXPECT_TRUE(has(request.try_bind(MODELRUN_INPUT, 0, &wrong.tensor).text,
                  "expected float32 of rank 2 ('x')"));
  Floats x(4);
  const View flat(x, {4});
  EXPECT_EQ(request.try_bind(MODELRUN_INPUT, 0, &flat.tensor).status,
            MODELRUN_INVALID_ARGUMENT);
  request.input(0, View(x, {1, 2}));
  request.run();
  const View wide(x, {1, 3});
  request.input(0, wide);
  EXPECT_TRUE(has(request.try_run().text,
                  "input '#0' ('x'): axis 1: expected 2, got 3"));
}

}  // namespace
}  // namespace modelrun::torch_test
