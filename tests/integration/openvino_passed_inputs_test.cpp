// SPDX-License-Identifier: Apache-2.0
// Outputs that return an input as it is.
#include <deque>

#include "openvino_table.h"

namespace modelrun::openvino_test {
namespace {

using namespace onnxruntime_test;
using openvino_test::Call;
using plugin_test::Floats;
using plugin_test::View;

constexpr const char* kTwoThreads = R"({"threads": 2})";

/// `same` is `x` by these nodes, `twice` is computed.
Graph passing_graph(std::vector<Node> nodes) {
  nodes.push_back({"Add", {"x", "x"}, {"twice"}});
  return {.inputs = {{"x", tensor_type(kFloat, {"n"})}},
          .outputs = {{"same", tensor_type(kFloat, {"n"})},
                      {"twice", tensor_type(kFloat, {"n"})}},
          .nodes = std::move(nodes)};
}

/// As it is written, as a conversion to its own type, and as something that
/// only the compiler finds to be nothing.
std::vector<Graph> passing_graphs() {
  return {passing_graph({{"Identity", {"x"}, {"same"}}}),
          passing_graph({{"CastLike", {"x", "x"}, {"same"}}}),
          passing_graph({{"Shape", {"x"}, {"shape"}},
                         {"Reshape", {"x", "shape"}, {"same"}}})};
}

class OpenVinoPassedInputs : public OpenVinoTest {
 protected:
  modelrun_session* load_graph(const Graph& graph) {
    const std::string name =
        "model" + std::to_string(sessions.size()) + ".onnx";
    return load_text(graph.text(), name, kTwoThreads);
  }
};

Floats numbers(std::size_t count, float first) {
  Floats values(count);
  for (float& value : values) value = first++;
  return values;
}

Floats doubled(Floats values) {
  for (float& value : values) value *= 2;
  return values;
}

void expect_run(Call& call, Floats& x) {
  call.input(0, {x, {static_cast<std::int64_t>(x.size())}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), x);
  EXPECT_EQ(values_of<float>(call.fetch(1)), doubled(x));
}

// The runtime kept the memory of an input as that of the output, and wrote
// later inputs there: of the same request, and of others of the program.
TEST_F(OpenVinoPassedInputs, MemoryOfEarlierRunsIsNotWritten) {
  for (const Graph& graph : passing_graphs()) {
    SCOPED_TRACE(graph.nodes[0].op);
    auto* session = load_graph(graph);
    Call one(session), other(session);
    std::deque<Floats> inputs, expected;
    for (const std::size_t count : {8, 8, 3, 8, 5, 16, 8, 1, 8}) {
      for (Call* call : {&one, &other, &one}) {
        expected.push_back(
            numbers(count, 100 * static_cast<float>(inputs.size())));
        inputs.push_back(expected.back());
        expect_run(*call, inputs.back());
      }
    }
    EXPECT_EQ(inputs, expected);
  }
}

TEST_F(OpenVinoPassedInputs, MemoryMayBeFreedAfterEachRun) {
  for (const Graph& graph : passing_graphs()) {
    SCOPED_TRACE(graph.nodes[0].op);
    auto* session = load_graph(graph);
    Call one(session), other(session);
    for (const std::size_t count : {100000, 70000, 100000, 3, 90000}) {
      for (Call* call : {&one, &other}) {
        Floats x = numbers(count, 1);
        expect_run(*call, x);
      }
    }
  }
}

TEST_F(OpenVinoPassedInputs, FetchedOutputIsWhatTheInputWasInTheRun) {
  Call call(load_graph(passing_graphs()[0]));
  Floats x{1, 2};
  call.input(0, {x, {2}});
  call.run();
  x = {7, 7};
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{1, 2}));
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "it was fetched before"));
}

TEST_F(OpenVinoPassedInputs, BoundOutputIsWrittenInPlace) {
  for (const Graph& graph : passing_graphs()) {
    Call call(load_graph(graph));
    Floats x{1, 2}, same{0, 0};
    call.input(0, {x, {2}});
    call.output(0, {same, {2}});
    call.run();
    EXPECT_EQ(same, x);
    EXPECT_EQ(call.try_bind(MODELRUN_OUTPUT, 0, nullptr).status, MODELRUN_OK);
    x = {3, 4};
    call.run();
    EXPECT_EQ(same, (Floats{1, 2}));
    EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{3, 4}));
  }
}

TEST_F(OpenVinoPassedInputs, OutputsMayBeBoundToTheInput) {
  for (const std::size_t index : {0, 1}) {
    Call call(load_graph(passing_graphs()[0]));
    Floats x{1, 2};
    call.input(0, {x, {2}});
    call.output(index, {x, {2}});
    call.run();
    EXPECT_EQ(x, index == 0 ? (Floats{1, 2}) : (Floats{2, 4}));
    EXPECT_EQ(values_of<float>(call.fetch(1 - index)),
              index == 0 ? (Floats{2, 4}) : (Floats{1, 2}));
  }
}

TEST_F(OpenVinoPassedInputs, BoundOutputOfAnotherShapeIsRefused) {
  Call call(load_graph(passing_graphs()[0]));
  Floats x{1, 2}, same{7, 7, 7};
  call.input(0, {x, {2}});
  call.output(0, {same, {3}});
  const Result result = call.try_run();
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text, "'same' is bound to float32[3]"));
  EXPECT_EQ(same, (Floats{7, 7, 7}));
  expect_run(call, x);
}

TEST_F(OpenVinoPassedInputs, GraphMayReturnNothingElse) {
  Call call(load_graph(
      {.inputs = {{"x", tensor_type(kFloat, {"n"})},
                  {"y", tensor_type(kFloat, {"n"})}},
       .outputs = {{"b", tensor_type(kFloat, {"n"})},
                   {"a", tensor_type(kFloat, {"n"})}},
       .nodes = {{"Identity", {"y"}, {"b"}}, {"Identity", {"x"}, {"a"}}}}));
  Floats x{1, 2}, y{3, 4, 5};
  call.input(0, {x, {2}});
  call.input(1, {y, {3}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), y);
  EXPECT_EQ(values_of<float>(call.fetch(1)), x);
}

}  // namespace
}  // namespace modelrun::openvino_test
