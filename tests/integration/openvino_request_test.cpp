// SPDX-License-Identifier: Apache-2.0
// Binding, running and fetching through the plugin.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "openvino_table.h"

namespace modelrun::openvino_test {
namespace {

using namespace onnxruntime_test;
using openvino_test::Call;
using plugin_test::Floats;
using plugin_test::View;
using Dims64 = std::vector<std::int64_t>;

class OpenVinoRequest : public OpenVinoTest {
 protected:
  modelrun_session* load_graph(const Graph& graph) {
    return load_text(graph.text(), "model.onnx");
  }
};

Graph add_graph() {
  return {.inputs = {{"x", tensor_type(kFloat, {"n"})},
                     {"y", tensor_type(kFloat, {"n"})}},
          .outputs = {{"sum", tensor_type(kFloat, {"n"})}},
          .nodes = {{"Add", {"x", "y"}, {"sum"}}}};
}

/// A model of one input that is returned as it is, of an OpenVINO type.
std::string identity_model(const std::string& type) {
  return R"(<?xml version="1.0"?>
<net name="identity" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1">
<data shape="?" element_type=")" +
         type + R"("/><output><port id="0" precision=")" + type +
         R"(" names="x,also_x"><dim>-1</dim></port></output></layer>
<layer id="1" name="y" type="Result" version="opset1">
<input><port id="0" precision=")" +
         type + R"("><dim>-1</dim></port></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
</edges></net>)";
}

TEST_F(OpenVinoRequest, EveryDtypeComesBackBitForBit) {
  const struct {
    const char* name;
    DLDataType dtype;
  } types[] = {{"boolean", {kDLBool, 8, 1}}, {"u8", {kDLUInt, 8, 1}},
               {"u16", {kDLUInt, 16, 1}},    {"u32", {kDLUInt, 32, 1}},
               {"u64", {kDLUInt, 64, 1}},    {"i8", {kDLInt, 8, 1}},
               {"i16", {kDLInt, 16, 1}},     {"i32", {kDLInt, 32, 1}},
               {"i64", {kDLInt, 64, 1}},     {"f16", {kDLFloat, 16, 1}},
               {"bf16", {kDLBfloat, 16, 1}}, {"f32", {kDLFloat, 32, 1}},
               {"f64", {kDLFloat, 64, 1}}};
  for (const auto& type : types) {
    SCOPED_TRACE(type.name);
    auto* session = load_text(identity_model(type.name));
    EXPECT_EQ(signature(session).inputs[0].dtype.code, type.dtype.code);
    EXPECT_EQ(signature(session).inputs[0].dtype.bits, type.dtype.bits);
    // The 16-bit floats: infinity, a signalling NaN's bits, a subnormal.
    const std::uint16_t halves[] = {0x7c00, 0x7f81, 0x0001, 0x8000, 0x7bff};
    std::vector<std::uint8_t> bytes(5U * type.dtype.bits / 8);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = type.dtype.code == kDLBool ? i % 2 : (0x7b + 37 * i) % 256;
    }
    if (type.dtype.bits == 16) std::memcpy(bytes.data(), halves, 10);
    Call call(session);
    call.input(0, {bytes.data(), type.dtype, {5}});
    call.run();
    const Fetched y = call.fetch(0);
    EXPECT_EQ(y->dl_tensor.dtype.code, type.dtype.code);
    EXPECT_EQ(y->dl_tensor.dtype.bits, type.dtype.bits);
    EXPECT_EQ(shape_of(y), (Dims64{5}));
    EXPECT_EQ(std::memcmp(y->dl_tensor.data, bytes.data(), bytes.size()), 0);
    EXPECT_NE(y->dl_tensor.data, bytes.data());
  }
}

TEST_F(OpenVinoRequest, PortsHaveEachOfTheirNames) {
  const auto& ports = signature(load_text(identity_model("f32")));
  EXPECT_EQ(ports.inputs[0].name, std::string("also_x"));
  ASSERT_EQ(ports.inputs[0].alias_count, 1U);
  EXPECT_EQ(ports.inputs[0].aliases[0], std::string("x"));
  EXPECT_EQ(ports.inputs[0].rank, 1);
  EXPECT_EQ(ports.inputs[0].dims[0], -1);
}

TEST_F(OpenVinoRequest, TypesThatCannotBePassedAreRefusedByName) {
  std::ofstream(folder / "model.xml") << identity_model("f8e4m3");
  const Result result = try_load(folder / "model.xml");
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "'also_x' is a tensor of OpenVINO type f8e4m3"));
}

TEST_F(OpenVinoRequest, BoundOutputIsWrittenInPlace) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1, 2, 3}, y{10, 20, 30}, sum(3);
  call.input(0, {x, {3}});
  call.input(1, {y, {3}});
  call.output(0, {sum, {3}});
  call.run();
  EXPECT_EQ(sum, (Floats{11, 22, 33}));
  x = {4, 5, 6};
  call.run();
  EXPECT_EQ(sum, (Floats{14, 25, 36}));
  Fetched none;
  const Result result = call.try_fetch(0, none);
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text, "'sum': it is bound"));
}

TEST_F(OpenVinoRequest, OutputMayBeBoundToAnInput) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1, 2, 3}, y{10, 20, 30};
  call.input(0, {x, {3}});
  call.input(1, {y, {3}});
  call.output(0, {x, {3}});
  call.run();
  call.run();
  EXPECT_EQ(x, (Floats{21, 42, 63}));
}

// A previous output, bound as input and output at once, crashed the runtime.
TEST_F(OpenVinoRequest, ResultFedBackDoesNotChangeWhatIsHeld) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1}, y{10};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.run();
  std::vector<Fetched> held;
  held.push_back(call.fetch(0));
  for (int i = 0; i < 5; ++i) {
    const View again(held.back()->dl_tensor.data, kDLFloat32, {1});
    call.input(0, again);
    call.run();
    held.push_back(call.fetch(0));
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(values_of<float>(held[i])[0], 11 + 10 * static_cast<float>(i));
  }
}

TEST_F(OpenVinoRequest, ClearedOutputIsNotWrittenAnyMore) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1}, y{2}, sum{0};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.output(0, {sum, {1}});
  call.run();
  EXPECT_EQ(sum, (Floats{3}));
  sum = {0};
  EXPECT_EQ(call.try_bind(MODELRUN_OUTPUT, 0, nullptr).status, MODELRUN_OK);
  for (const std::int64_t n : {1, 3}) {
    std::vector<float> more(3, 4);
    call.input(0, {more.data(), kDLFloat32, {n}});
    call.input(1, {more.data(), kDLFloat32, {n}});
    call.run();
    EXPECT_EQ(values_of<float>(call.fetch(0)),
              Floats(static_cast<std::size_t>(n), 8));
  }
  EXPECT_EQ(sum, (Floats{0}));
}

TEST_F(OpenVinoRequest, OutputBoundToOtherMemoryIsWrittenThere) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1}, y{2}, first{0}, second{0};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.output(0, {first, {1}});
  call.run();
  first = {0};
  call.output(0, {second, {1}});
  call.run();
  EXPECT_EQ(first, (Floats{0}));
  EXPECT_EQ(second, (Floats{3}));
}

// The runtime gives a larger tensor another shape, without a word.
TEST_F(OpenVinoRequest, OutputOfAnotherShapeIsAnErrorAndNothingStays) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1, 2}, y{1, 2};
  call.input(0, {x, {2}});
  call.input(1, {y, {2}});
  for (const std::int64_t size : {5, 1}) {
    std::vector<float> sum(5, 7);
    call.output(0, {sum.data(), kDLFloat32, {size}});
    const Result result = call.try_run();
    EXPECT_NE(result.status, MODELRUN_OK);
    EXPECT_TRUE(has(result.text, size == 5 ? "'sum' is bound to float32[5], "
                                             "but the run's is float32[2]"
                                           : "OpenVINO, running with"));
    EXPECT_EQ(call.try_bind(MODELRUN_OUTPUT, 0, nullptr).status, MODELRUN_OK);
    call.run();
    EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{2, 4}));
  }
}

TEST_F(OpenVinoRequest, FetchedTensorsAreIndependentOfLaterRunsAndOutliveAll) {
  std::vector<Fetched> kept;
  {
    Call call(load_graph(add_graph()));
    for (const std::size_t n : {4U, 1U, 3U, 4U}) {
      std::vector<float> x(n, static_cast<float>(n)), y(n, 1);
      call.input(0, {x, {static_cast<std::int64_t>(n)}});
      call.input(1, {y, {static_cast<std::int64_t>(n)}});
      call.run();
      kept.push_back(call.fetch(0));
    }
  }
  close();
  EXPECT_EQ(values_of<float>(kept[0]), (Floats{5, 5, 5, 5}));
  EXPECT_EQ(values_of<float>(kept[1]), (Floats{2}));
  EXPECT_EQ(values_of<float>(kept[2]), (Floats{4, 4, 4}));
  EXPECT_EQ(values_of<float>(kept[3]), (Floats{5, 5, 5, 5}));
}

TEST_F(OpenVinoRequest, EachOutputIsFetchedOncePerRun) {
  Call call(load_graph(add_graph()));
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "there was no run"));
  std::vector<float> x{1}, y{2};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.run();
  (void)call.fetch(0);
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "it was fetched before"));
  EXPECT_TRUE(has(call.try_fetch(7, none).text, "the program has 1"));
}

// It would run on the tensor of the call before.
TEST_F(OpenVinoRequest, ClearedInputIsNamedAndNeverReused) {
  Call call(load_graph(add_graph()));
  std::vector<float> x{1}, y{2};
  EXPECT_TRUE(has(call.try_run().text, "nothing is bound to the inputs x, y"));
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.run();
  ASSERT_EQ(call.try_bind(MODELRUN_INPUT, 1, nullptr).status, MODELRUN_OK);
  const Result result = call.try_run();
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text, "nothing is bound to the inputs y"));
  call.input(1, {y, {1}});
  call.run();
}

TEST_F(OpenVinoRequest, EmptyTensorsMayHaveNoAddress) {
  Call call(load_graph(add_graph()));
  const View none(nullptr, kDLFloat32, {0});
  call.input(0, none);
  call.input(1, none);
  call.run();
  EXPECT_EQ(shape_of(call.fetch(0)), (Dims64{0}));
  call.output(0, none);
  call.run();
}

TEST_F(OpenVinoRequest, ScalarGoesInAndOut) {
  Graph graph = add_graph();
  for (auto* ports : {&graph.inputs, &graph.outputs}) {
    for (auto& port : *ports) port.second = tensor_type(kFloat, {});
  }
  auto* session = load_graph(graph);
  EXPECT_EQ(signature(session).inputs[0].rank, 0);
  Call call(session);
  std::vector<float> x{1}, y{2}, sum{0};
  call.input(0, {x, {}});
  call.input(1, {y, {}});
  call.run();
  EXPECT_EQ(shape_of(call.fetch(0)), Dims64{});
  call.output(0, {sum, {}});
  call.run();
  EXPECT_EQ(sum, (Floats{3}));
}

TEST_F(OpenVinoRequest, WrongDtypeOrRankSaysWhatIsExpected) {
  Graph graph = add_graph();
  graph.inputs[0].second = tensor_type(kFloat, {"n", 4});
  graph.outputs[0].second = tensor_type(kFloat, {"n", 4});
  Call call(load_graph(graph));
  std::vector<float> x(8);
  std::vector<std::int64_t> ids(8);
  const auto refusal = [&](const View& view) {
    const Result result = call.try_bind(MODELRUN_INPUT, 0, &view.tensor);
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
    return result.text;
  };
  EXPECT_EQ(refusal({ids, {2, 4}}),
            "cannot bind int64[2, 4] to 'x': expected float32[?, 4]");
  EXPECT_EQ(refusal({x, {8}}),
            "cannot bind float32[8] to 'x': expected float32[?, 4]");
  EXPECT_EQ(refusal({x, {4, 2}}),
            "cannot bind float32[4, 2] to 'x': expected float32[?, 4]");
  View gone(nullptr, kDLFloat32, {2, 4});
  EXPECT_TRUE(has(refusal(gone), "its data pointer is null"));
  View elsewhere(x, {2, 4});
  elsewhere.tensor.device = {kDLCUDA, 0};
  EXPECT_TRUE(has(refusal(elsewhere), "that of another device"));
  View negative(x, {-1, 4});
  EXPECT_TRUE(has(refusal(negative), "no memory has this shape"));
}

TEST_F(OpenVinoRequest, FailedRunNamesTheShapesAndLeavesTheRequestUsable) {
  Call call(load_graph(add_graph()));
  std::vector<float> x(3, 1), y(3, 2);
  call.input(0, {x, {3}});
  call.input(1, {y.data(), kDLFloat32, {2}});
  const Result result = call.try_run();
  EXPECT_EQ(result.status, MODELRUN_BACKEND_ERROR);
  EXPECT_TRUE(has(result.text, "x float32[3], y float32[2]"));
  EXPECT_FALSE(has(result.text, "Exception from"));
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "the last one failed"));
  call.input(1, {y, {3}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{3, 3, 3}));
}

/// A chain of products of matrices, which takes a while.
Graph slow_graph() {
  Graph graph{.inputs = {{"x0", tensor_type(kFloat, {"n", "n"})}},
              .outputs = {{"x20", tensor_type(kFloat, {"n", "n"})}},
              .nodes = {}};
  for (int i = 0; i < 20; ++i) {
    const std::string from = "x" + std::to_string(i);
    graph.nodes.push_back(
        {"MatMul", {from, from}, {"x" + std::to_string(i + 1)}});
  }
  return graph;
}

TEST_F(OpenVinoRequest, CancelFailsARunAndOnlyThatRun) {
  Call call(load_graph(slow_graph()));
  std::vector<float> x(512 * 512), small{1};
  call.input(0, {small, {1, 1}});
  openvino_table().request_cancel(call.request);
  call.run();
  call.input(0, {x, {512, 512}});
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      openvino_table().request_cancel(call.request);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const Result result = call.try_run();
  done = true;
  other.join();
  EXPECT_EQ(result.status, MODELRUN_BACKEND_ERROR);
  EXPECT_EQ(result.text, "the run was cancelled");
  call.input(0, {small, {1, 1}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{1}));
}

// The runtime went on with shapes of the failed run, and gave other numbers.
TEST_F(OpenVinoRequest, FailuresBetweenRunsNeverChangeTheirNumbers) {
  Graph graph{.inputs = {{"x", tensor_type(kFloat, {"n", "n"})},
                         {"b", tensor_type(kFloat, {"m", "m"})}},
              .outputs = {{"y6", tensor_type(kFloat, {"n", "n"})}},
              .nodes = {{"MatMul", {"x", "x"}, {"a0"}},
                        {"Softmax", {"a0"}, {"a1"}},
                        {"MatMul", {"a1", "x"}, {"a2"}},
                        {"Softmax", {"a2"}, {"a3"}},
                        {"MatMul", {"a3", "b"}, {"a4"}},
                        {"Add", {"a4", "x"}, {"y0"}}}};
  for (int i = 0; i < 6; ++i) {
    const std::string from = "y" + std::to_string(i);
    const std::string to = "y" + std::to_string(i + 1);
    graph.nodes.push_back({"MatMul", {from, "b"}, {"z" + to}});
    graph.nodes.push_back({"Softmax", {"z" + to}, {to}});
  }
  std::vector<float> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 37 % 64) / 64;
  }
  const auto bind = [&](Call& call, std::int64_t n, std::int64_t m) {
    call.input(0, {values.data(), kDLFloat32, {n, n}});
    call.input(1, {values.data(), kDLFloat32, {m, m}});
  };
  std::vector<Floats> expected;
  for (std::int64_t n = 1; n <= 8; ++n) {
    Call call(load_graph(graph));
    bind(call, n, n);
    call.run();
    expected.push_back(values_of<float>(call.fetch(0)));
  }
  Call call(load_graph(graph));
  for (int i = 0; i < 120; ++i) {
    const std::int64_t n = 1 + i * 5 % 8;
    const std::int64_t m = i % 3 == 1 ? 1 + i * 3 % 8 : n;
    bind(call, n, m);
    if (n != m) {
      EXPECT_EQ(call.try_run().status, MODELRUN_BACKEND_ERROR);
      continue;
    }
    call.run();
    const Floats got = values_of<float>(call.fetch(0));
    const Floats& right = expected[static_cast<std::size_t>(n - 1)];
    ASSERT_EQ(got.size(), right.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      ASSERT_NEAR(got[k], right[k], 1e-5) << "run " << i << ", element " << k;
    }
  }
}

TEST_F(OpenVinoRequest, ManyThreadsShareOneSession) {
  auto* session = load_graph(add_graph());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; ++id) {
    threads.emplace_back([&, id] {
      Call call(session);
      for (int i = 0; i < 50; ++i) {
        const std::size_t n = 1 + static_cast<std::size_t>((id + i) % 7);
        std::vector<float> x(n, static_cast<float>(id)), y(n, 1);
        call.input(0, {x, {static_cast<std::int64_t>(n)}});
        call.input(1, {y, {static_cast<std::int64_t>(n)}});
        call.run();
        if (values_of<float>(call.fetch(0)) !=
            Floats(n, static_cast<float>(id + 1))) {
          ++wrong;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace modelrun::openvino_test
