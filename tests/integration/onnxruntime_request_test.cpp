// SPDX-License-Identifier: Apache-2.0
// Binding, running and fetching through the plugin.
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "onnxruntime_table.h"

namespace modelrun::onnxruntime_test {
namespace {

using OnnxRuntimeRequest = OnnxRuntimeTest;

Graph add_graph() {
  return {.inputs = {{"x", tensor_type(kFloat, {"n"})},
                     {"y", tensor_type(kFloat, {"n"})}},
          .outputs = {{"sum", tensor_type(kFloat, {"n"})}},
          .nodes = {{"Add", {"x", "y"}, {"sum"}}}};
}

Graph identity_graph(int type, const Dims& dims) {
  return {.inputs = {{"x", tensor_type(type, dims)}},
          .outputs = {{"y", tensor_type(type, dims)}},
          .nodes = {{"Identity", {"x"}, {"y"}}}};
}

TEST_F(OnnxRuntimeRequest, EveryDtypeComesBackBitForBit) {
  const struct {
    int onnx;
    DLDataType dtype;
  } types[] = {{kBool, {kDLBool, 8, 1}},        {kUint8, {kDLUInt, 8, 1}},
               {kUint16, {kDLUInt, 16, 1}},     {kUint32, {kDLUInt, 32, 1}},
               {kUint64, {kDLUInt, 64, 1}},     {kInt8, {kDLInt, 8, 1}},
               {kInt16, {kDLInt, 16, 1}},       {kInt32, {kDLInt, 32, 1}},
               {kInt64, {kDLInt, 64, 1}},       {kFloat16, {kDLFloat, 16, 1}},
               {kBfloat16, {kDLBfloat, 16, 1}}, {kFloat, {kDLFloat, 32, 1}},
               {kDouble, {kDLFloat, 64, 1}},    {kUint4, {kDLUInt, 4, 1}},
               {kInt4, {kDLInt, 4, 1}}};
  for (const auto& type : types) {
    SCOPED_TRACE(type.onnx);
    // No operator of the CPU provider returns 4-bit elements as they are.
    Graph graph = identity_graph(type.onnx, {"n"});
    if (type.dtype.bits == 4) {
      graph.nodes.clear();
      graph.outputs[0].first = "x";
    }
    auto* session = load(graph);
    EXPECT_EQ(signature(session).inputs[0].dtype.code, type.dtype.code);
    EXPECT_EQ(signature(session).inputs[0].dtype.bits, type.dtype.bits);
    // Five elements: not a whole number of bytes for the 4-bit types.
    const std::size_t size = (5U * type.dtype.bits + 7) / 8;
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] =
          static_cast<std::uint8_t>(type.onnx == kBool ? i % 2 : 0x7b + 37 * i);
    }
    Call call(session);
    call.input(0, {bytes.data(), type.dtype, {5}});
    call.run();
    const Fetched y = call.fetch(0);
    EXPECT_EQ(y->dl_tensor.dtype.code, type.dtype.code);
    EXPECT_EQ(y->dl_tensor.dtype.bits, type.dtype.bits);
    EXPECT_EQ(shape_of(y), (std::vector<std::int64_t>{5}));
    EXPECT_EQ(std::memcmp(y->dl_tensor.data, bytes.data(), size), 0);
  }
}

TEST_F(OnnxRuntimeRequest, BoundOutputIsWrittenInPlace) {
  Call call(load(add_graph()));
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

TEST_F(OnnxRuntimeRequest, OutputMayBeBoundToAnInput) {
  Call call(load(add_graph()));
  std::vector<float> x{1, 2, 3}, y{10, 20, 30};
  call.input(0, {x, {3}});
  call.input(1, {y, {3}});
  call.output(0, {x, {3}});
  call.run();
  call.run();
  EXPECT_EQ(x, (Floats{21, 42, 63}));
}

TEST_F(OnnxRuntimeRequest, ClearedOutputIsFetchedAgain) {
  Call call(load(add_graph()));
  std::vector<float> x{1}, y{2}, sum{0};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.output(0, {sum, {1}});
  EXPECT_EQ(call.try_bind(MODELRUN_OUTPUT, 0, nullptr).status, MODELRUN_OK);
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{3}));
  EXPECT_EQ(sum, (Floats{0}));
}

TEST_F(OnnxRuntimeRequest, FetchedTensorsAreIndependentOfLaterRuns) {
  Call call(load(add_graph()));
  std::vector<Fetched> kept;
  for (const std::size_t n : {4U, 1U, 3U, 4U}) {
    std::vector<float> x(n, static_cast<float>(n)), y(n, 1);
    call.input(0, {x, {static_cast<std::int64_t>(n)}});
    call.input(1, {y, {static_cast<std::int64_t>(n)}});
    call.run();
    kept.push_back(call.fetch(0));
  }
  EXPECT_EQ(values_of<float>(kept[0]), (Floats{5, 5, 5, 5}));
  EXPECT_EQ(values_of<float>(kept[1]), (Floats{2}));
  EXPECT_EQ(values_of<float>(kept[2]), (Floats{4, 4, 4}));
  EXPECT_EQ(values_of<float>(kept[3]), (Floats{5, 5, 5, 5}));
}

TEST_F(OnnxRuntimeRequest, EachOutputIsFetchedOncePerRun) {
  Call call(load(add_graph()));
  std::vector<float> x{1}, y{2};
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "there was no run"));
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.run();
  const Fetched sum = call.fetch(0);
  const Result again = call.try_fetch(0, none);
  EXPECT_EQ(again.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(again.text, "'sum': it was fetched before"));
}

TEST_F(OnnxRuntimeRequest, OutputsNobodyFetchesAreDropped) {
  Call call(load(add_graph()));
  std::vector<float> x{1}, y{2};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.run();
  x[0] = 5;
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{7}));
}

TEST_F(OnnxRuntimeRequest, ScalarGoesInAndOut) {
  Call call(load(identity_graph(kFloat, {})));
  std::vector<float> x{2.5F};
  call.input(0, {x, {}});
  call.run();
  const Fetched y = call.fetch(0);
  EXPECT_EQ(y->dl_tensor.ndim, 0);
  EXPECT_EQ(values_of<float>(y), (Floats{2.5F}));
}

TEST_F(OnnxRuntimeRequest, EmptyTensorsMayHaveNoAddress) {
  Call call(load(
      {.inputs = {{"past", tensor_type(kFloat, {1, "p", 2})},
                  {"new", tensor_type(kFloat, {1, "s", 2})}},
       .outputs = {{"all", tensor_type(kFloat, {1, "t", 2})}},
       .nodes = {
           {"Concat", {"past", "new"}, {"all"}, {int_attribute("axis", 1)}}}}));
  std::vector<float> last{1, 2};
  call.input(0, {nullptr, kDLFloat32, {1, 0, 2}});
  call.input(1, {last, {1, 1, 2}});
  call.run();
  const Fetched all = call.fetch(0);
  EXPECT_EQ(shape_of(all), (std::vector<std::int64_t>{1, 1, 2}));
  EXPECT_EQ(values_of<float>(all), (Floats{1, 2}));
  call.input(1, {nullptr, kDLFloat32, {1, 0, 2}});
  call.run();
  EXPECT_EQ(shape_of(call.fetch(0)), (std::vector<std::int64_t>{1, 0, 2}));
  call.output(0, {nullptr, kDLFloat32, {1, 0, 2}});
  call.run();
}

TEST_F(OnnxRuntimeRequest, PastAndPresentMayShareASymbol) {
  // A wrong export, and a common one: the lengths differ by the new token.
  const Dims same = {1, "length", 2};
  Call call(load(
      {.inputs = {{"past", tensor_type(kFloat, same)},
                  {"new", tensor_type(kFloat, {1, 1, 2})}},
       .outputs = {{"present", tensor_type(kFloat, same)}},
       .nodes = {
           {"Relu", {"past"}, {"kept"}},
           {"Concat", {"kept", "new"}, {"all"}, {int_attribute("axis", 1)}},
           {"Relu", {"all"}, {"present"}}}}));
  std::vector<float> past, fresh{1, 2};
  for (std::int64_t step = 0; step < 5; ++step) {
    call.input(0, {past, {1, step, 2}});
    call.input(1, {fresh, {1, 1, 2}});
    call.run();
    const Fetched present = call.fetch(0);
    EXPECT_EQ(shape_of(present), (std::vector<std::int64_t>{1, step + 1, 2}));
    past = values_of<float>(present);
  }
  EXPECT_EQ(past, (Floats{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST_F(OnnxRuntimeRequest, EmptyResultHasItsShape) {
  Call call(load({.inputs = {{"x", tensor_type(kFloat, {"n"})}},
                  .outputs = {{"where", tensor_type(kInt64, {1, "k"})}},
                  .nodes = {{"NonZero", {"x"}, {"where"}}}}));
  std::vector<float> x{0, 0, 0};
  call.input(0, {x, {3}});
  call.run();
  EXPECT_EQ(shape_of(call.fetch(0)), (std::vector<std::int64_t>{1, 0}));
}

TEST_F(OnnxRuntimeRequest, OutputThatIsAnInputIsACopy) {
  Call call(load({.inputs = {{"x", tensor_type(kFloat, {"n"})}},
                  .outputs = {{"x", tensor_type(kFloat, {"n"})},
                              {"y", tensor_type(kFloat, {"n"})}},
                  .nodes = {{"Identity", {"x"}, {"y"}}}}));
  std::vector<float> x{1, 2};
  call.input(0, {x, {2}});
  call.run();
  // The copy is made by the run: memory is borrowed for that long only.
  x = {8, 9};
  for (const std::size_t index : {0U, 1U}) {
    const Fetched output = call.fetch(index);
    EXPECT_NE(output->dl_tensor.data, x.data());
    EXPECT_EQ(values_of<float>(output), (Floats{1, 2}));
  }
  std::vector<float> bound(2), wrong(3);
  call.output(0, {bound, {2}});
  call.run();
  EXPECT_EQ(bound, (Floats{8, 9}));
  call.output(0, {wrong, {3}});
  EXPECT_TRUE(has(call.try_run().text,
                  "output 'x' is bound to float32[3], but "
                  "is the input of that name, "
                  "float32[2]"));
}

TEST_F(OnnxRuntimeRequest, FetchedTensorsOutliveEverything) {
  std::vector<Fetched> kept;
  {
    Graph graph = add_graph();
    graph.initializers = {
        initializer("constant", kFloat, {2}, raw<float>({7, 8}))};
    graph.outputs.emplace_back("constant", tensor_type(kFloat, {2}));
    graph.outputs.emplace_back("x", tensor_type(kFloat, {"n"}));
    Call call(load(graph));
    std::vector<float> x(1000, 1), y(1000, 2);
    call.input(0, {x, {1000}});
    call.input(1, {y, {1000}});
    call.run();
    for (std::size_t i = 0; i < 3; ++i) kept.push_back(call.fetch(i));
    call.run();
    EXPECT_NE(call.fetch(1)->dl_tensor.data, kept[1]->dl_tensor.data);
  }
  close();
  host.reset();
  EXPECT_EQ(values_of<float>(kept[0]), Floats(1000, 3));
  EXPECT_EQ(values_of<float>(kept[1]), (Floats{7, 8}));
  EXPECT_EQ(values_of<float>(kept[2]), Floats(1000, 1));
  std::thread([&] { kept.clear(); }).join();
}

TEST_F(OnnxRuntimeRequest, ConstantOutputIsWrittenToBoundMemory) {
  Graph graph = add_graph();
  graph.initializers = {
      initializer("constant", kFloat, {2}, raw<float>({7, 8}))};
  graph.outputs.emplace_back("constant", tensor_type(kFloat, {2}));
  Call call(load(graph));
  std::vector<float> x{1}, constant(2);
  call.input(0, {x, {1}});
  call.input(1, {x, {1}});
  call.output(1, {constant, {2}});
  call.run();
  EXPECT_EQ(constant, (Floats{7, 8}));
}

TEST_F(OnnxRuntimeRequest, UnboundInputsAreNamed) {
  Call call(load(add_graph()));
  Result result = call.try_run();
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(result.text, "cannot run: nothing is bound to the inputs x, y");
  std::vector<float> x{1}, y{2};
  call.input(0, {x, {1}});
  call.input(1, {y, {1}});
  call.run();
  // An input that was cleared is never the memory of an earlier call.
  EXPECT_EQ(call.try_bind(MODELRUN_INPUT, 1, nullptr).status, MODELRUN_OK);
  result = call.try_run();
  EXPECT_EQ(result.text, "cannot run: nothing is bound to the inputs y");
}

TEST_F(OnnxRuntimeRequest, FailedRunNamesTheShapesAndLeavesTheRequestUsable) {
  Graph graph{.inputs = {{"x", tensor_type(kFloat, {"n"})}},
              .outputs = {{"y", tensor_type(kFloat, {2, 2})}},
              .nodes = {{"Reshape", {"x", "shape"}, {"y"}}},
              .initializers = {initializer("shape", kInt64, {2},
                                           raw<std::int64_t>({2, 2}))}};
  Call call(load(graph));
  std::vector<float> x{1, 2, 3, 4};
  call.input(0, {x, {3}});
  const Result result = call.try_run();
  EXPECT_EQ(result.status, MODELRUN_BACKEND_ERROR);
  EXPECT_TRUE(has(result.text, "running with x float32[3]: "));
  EXPECT_TRUE(has(result.text, "the_Reshape"));
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "the last one failed"));
  call.input(0, {x, {4}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{1, 2, 3, 4}));
}

TEST_F(OnnxRuntimeRequest, WrongDtypeRankOrOutputShapeIsACleanError) {
  Call call(load(add_graph()));
  std::vector<float> x{1, 2}, y{3, 4}, sum(3);
  std::vector<std::int64_t> whole{1, 2};
  call.input(0, {whole, {2}});
  call.input(1, {y, {2}});
  EXPECT_EQ(call.try_run().status, MODELRUN_INVALID_ARGUMENT);
  call.input(0, {x, {1, 2}});
  EXPECT_EQ(call.try_run().status, MODELRUN_INVALID_ARGUMENT);
  call.input(0, {x, {2}});
  call.output(0, {sum, {3}});
  EXPECT_NE(call.try_run().status, MODELRUN_OK);
  call.output(0, {sum, {2}});
  call.run();
  EXPECT_EQ(sum, (Floats{4, 6, 0}));
}

TEST_F(OnnxRuntimeRequest, TensorsThatCannotBeAreRefused) {
  constexpr auto kHuge = std::int64_t{1} << 62;
  Call call(load(add_graph()));
  std::vector<float> x{1, 2, 3, 4};
  const auto refused = [&](View view) {
    return call.try_bind(MODELRUN_INPUT, 0, &view.tensor);
  };
  EXPECT_TRUE(has(refused({x, {-1}}).text, "no memory has this shape"));
  EXPECT_TRUE(has(refused({x, {kHuge, kHuge}}).text, "no memory"));
  EXPECT_TRUE(has(refused({x, {kHuge, 0, kHuge}}).text, "no memory"));
  EXPECT_TRUE(has(refused({nullptr, kDLFloat32, {2}}).text,
                  "its data pointer is null"));
  EXPECT_TRUE(has(refused({x.data(), {kDLComplex, 64, 1}, {2}}).text,
                  "ONNX has no such element type"));
  View on_gpu(x, {4});
  on_gpu.tensor.device = {kDLCUDA, 0};
  EXPECT_TRUE(has(call.try_bind(MODELRUN_INPUT, 0, &on_gpu.tensor).text,
                  "copy it to the CPU first"));
  View strided(x, {2, 2});
  std::int64_t strides[] = {1, 2};
  strided.tensor.strides = strides;
  EXPECT_EQ(call.try_bind(MODELRUN_INPUT, 0, &strided.tensor).text,
            "cannot bind float32[2, 2] to 'x': it is not contiguous");
  EXPECT_TRUE(has(call.try_bind(MODELRUN_INPUT, 2, nullptr).text,
                  "input 2: the program has 2"));
  EXPECT_TRUE(has(call.try_bind(MODELRUN_STATE, 0, nullptr).text, "no state"));
}

TEST_F(OnnxRuntimeRequest, ByteOffsetIsObserved) {
  Call call(load(identity_graph(kFloat, {"n"})));
  std::vector<float> x{1, 2, 3};
  View view(x, {2});
  view.tensor.byte_offset = sizeof(float);
  call.input(0, view);
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{2, 3}));
}

/// Runs its body 2^40 times.
Graph endless_graph() {
  Graph body{
      .inputs = {{"i", tensor_type(kInt64, {})},
                 {"go", tensor_type(kBool, {})},
                 {"v", tensor_type(kFloat, {1})}},
      .outputs = {{"go_on", tensor_type(kBool, {})},
                  {"w", tensor_type(kFloat, {1})}},
      .nodes = {{"Identity", {"go"}, {"go_on"}}, {"Add", {"v", "v"}, {"w"}}}};
  return {.inputs = {{"trips", tensor_type(kInt64, {})},
                     {"x", tensor_type(kFloat, {1})}},
          .outputs = {{"y", tensor_type(kFloat, {1})}},
          .nodes = {{"Loop",
                     {"trips", "", "x"},
                     {"y"},
                     {graph_attribute("body", body.graph_message())}}}};
}

TEST_F(OnnxRuntimeRequest, CancelEndsARunAndOnlyThatRun) {
  Graph graph = endless_graph();
  // Without a condition the body's must be said to hold.
  graph.nodes[0].inputs[1] = "yes";
  graph.initializers = {initializer("yes", kBool, {}, std::string(1, '\1'))};
  Call call(load(graph));
  std::vector<std::int64_t> trips{std::int64_t{1} << 40};
  std::vector<float> x{1};
  call.input(0, {trips, {}});
  call.input(1, {x, {1}});
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> ended = false;
    std::thread canceller([&] {
      while (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        onnxruntime_table().request_cancel(call.request);
      }
    });
    const Result result = call.try_run();
    ended = true;
    canceller.join();
    EXPECT_EQ(result.status, MODELRUN_BACKEND_ERROR);
    EXPECT_EQ(result.text, "the run was cancelled");
  }
  onnxruntime_table().request_cancel(call.request);
  trips[0] = 3;
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{8}));
}

TEST_F(OnnxRuntimeRequest, ManyThreadsShareOneSession) {
  auto* session = load(add_graph());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; ++id) {
    threads.emplace_back([&, id] {
      Call call(session);
      for (int round = 0; round < 200; ++round) {
        const auto n = static_cast<std::size_t>(1 + (id + round) % 7);
        std::vector<float> x(n, static_cast<float>(id)), y(n, 0.5F);
        call.input(0, {x, {static_cast<std::int64_t>(n)}});
        call.input(1, {y, {static_cast<std::int64_t>(n)}});
        call.run();
        const auto sum = values_of<float>(call.fetch(0));
        const std::vector<float> right(n, static_cast<float>(id) + 0.5F);
        if (sum != right) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace modelrun::onnxruntime_test
