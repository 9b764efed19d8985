// SPDX-License-Identifier: Apache-2.0
// Opening the runtime, options, loading and their errors.
#include <nlohmann/json.hpp>

#include "onnxruntime_table.h"

namespace modelrun::onnxruntime_test {
namespace {

Graph add_graph() {
  return {.inputs = {{"x", tensor_type(kFloat, {"batch", 4})},
                     {"y", tensor_type(kFloat, {"batch", 4})}},
          .outputs = {{"sum", tensor_type(kFloat, {"batch", 4})}},
          .nodes = {{"Add", {"x", "y"}, {"sum"}}}};
}

Result try_open(const char* path) {
  Host host(path);
  modelrun_backend* backend = nullptr;
  Result result =
      call(onnxruntime_table().backend_create, &host.host, &backend);
  EXPECT_EQ(backend, nullptr);
  return result;
}

TEST(OnnxRuntimePlugin, SaysWhatItIs) {
  const auto& table = onnxruntime_table();
  EXPECT_EQ(table.struct_size, sizeof(modelrun_backend_table));
  EXPECT_EQ(table.abi, MODELRUN_BACKEND_ABI);
  EXPECT_STREQ(table.name, "onnxruntime");
}

TEST(OnnxRuntimePlugin, NoLibraryIsNotFound) {
  const Result result = try_open(nullptr);
  EXPECT_EQ(result.status, MODELRUN_NOT_FOUND);
  EXPECT_TRUE(has(result.text, "pip install onnxruntime"));
}

TEST(OnnxRuntimePlugin, MissingLibraryIsNotFoundWithTheLoadersWords) {
  const Result result = try_open("/nowhere/libonnxruntime.so");
  EXPECT_EQ(result.status, MODELRUN_NOT_FOUND);
  EXPECT_TRUE(
      has(result.text, "cannot open ONNX Runtime: /nowhere/libonnxruntime"));
}

TEST(OnnxRuntimePlugin, AnotherLibraryIsRefused) {
  const Result result = try_open("libm.so.6");
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(result.text,
            "cannot open ONNX Runtime: 'libm.so.6' is another library, it has "
            "no OrtGetApiBase");
}

TEST(OnnxRuntimePlugin, OldRuntimeIsRefusedWithItsVersionAndPrintsNothing) {
  const char* path = std::getenv("MODELRUN_ONNXRUNTIME_OLD");
  if (path == nullptr) {
    GTEST_SKIP() << "MODELRUN_ONNXRUNTIME_OLD names no library before 1.23";
  }
  testing::internal::CaptureStderr();
  const Result result = try_open(path);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "cannot use ONNX Runtime 1."));
  EXPECT_TRUE(has(result.text, "version 1.23 or later is needed"));
}

using OnnxRuntimeLoad = OnnxRuntimeTest;

TEST_F(OnnxRuntimeLoad, BackendDescribesItself) {
  const auto json = describe(nullptr);
  EXPECT_EQ(json["runtime"], "onnxruntime");
  EXPECT_TRUE(has(json["version"].get<std::string>(), "1."));
  EXPECT_EQ(json["devices"], nlohmann::json::array({"cpu"}));
  EXPECT_EQ(json["options"],
            nlohmann::json::array({"custom_op_library", "device",
                                   "graph_optimization_level", "threads"}));
  EXPECT_TRUE(has(json["providers"].dump(), "\"CPUExecutionProvider\""));
}

TEST_F(OnnxRuntimeLoad, SessionDescribesItself) {
  auto* session = load(add_graph(), R"({"threads": 2, "device": "cpu"})");
  EXPECT_EQ(describe(session),
            (nlohmann::json{{"device", "cpu"},
                            {"threads", 2},
                            {"precision", "export"},
                            {"provider", "CPUExecutionProvider"}}));
}

TEST_F(OnnxRuntimeLoad, UnknownOptionListsTheKnownOnes) {
  const Result result = try_load(add_graph(), R"({"thread": 2})");
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(result.text,
            "unknown onnxruntime option \"thread\"; known are: "
            "custom_op_library, device, graph_optimization_level, threads");
}

TEST_F(OnnxRuntimeLoad, OptionsOfTheWrongTypeAreRefused) {
  const char* const bad[] = {R"({"threads": "2"})",
                             R"({"threads": 0})",
                             R"({"threads": -1})",
                             R"({"threads": 1.5})",
                             R"({"threads": true})",
                             R"({"threads": 18446744073709551615})",
                             R"({"device": 0})",
                             R"({"graph_optimization_level": "most"})",
                             R"({"graph_optimization_level": 99})",
                             R"({"custom_op_library": ""})",
                             R"([])",
                             R"({"threads": )",
                             "",
                             "null",
                             "{\"\xff\": 1}"};
  for (const char* options : bad) {
    const Result result = try_load(add_graph(), options);
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT) << options;
    EXPECT_TRUE(has(result.text, "onnxruntime option")) << options;
  }
  EXPECT_EQ(try_load(add_graph(), R"({"threads": "2"})").text,
            "onnxruntime option 'threads': expected an integer from 1 to 1024, "
            "got \"2\"");
}

TEST_F(OnnxRuntimeLoad, EveryOptimizationLevelIsTaken) {
  for (const char* level : {"disable", "basic", "extended", "all"}) {
    const std::string options =
        R"({"graph_optimization_level": ")" + std::string(level) + "\"}";
    const Result result = try_load(add_graph(), options.c_str());
    EXPECT_EQ(result.status, MODELRUN_OK) << result.text;
  }
}

TEST_F(OnnxRuntimeLoad, AnotherDeviceIsRefusedAndNeverReplaced) {
  for (const char* device : {"cuda", "cuda:1", "gpu"}) {
    const std::string options = R"({"device": ")" + std::string(device) + "\"}";
    const Result result = try_load(add_graph(), options.c_str());
    EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
    EXPECT_TRUE(
        has(result.text, "cannot run on '" + std::string(device) + "'"));
    EXPECT_TRUE(has(result.text, "was built with: "));
    EXPECT_TRUE(has(result.text, "CPUExecutionProvider"));
  }
}

TEST_F(OnnxRuntimeLoad, MissingFileIsNotFound) {
  const Result result = try_load(folder / "none.onnx");
  EXPECT_EQ(result.status, MODELRUN_NOT_FOUND);
  EXPECT_TRUE(sessions.empty());
  EXPECT_TRUE(has(result.text, "none.onnx"));
}

TEST_F(OnnxRuntimeLoad, DamagedFilesAreRefused) {
  const std::string good = add_graph().text();
  // The second half ends between fields: what is left of it is a model.
  for (std::size_t size = 0; size < good.size() / 2; size += 7) {
    write_file(folder / "cut.onnx", good.substr(0, size));
    const Result result = try_load(folder / "cut.onnx");
    EXPECT_NE(result.status, MODELRUN_OK) << size;
    EXPECT_TRUE(has(result.text, "cut.onnx")) << size;
  }
  const Result directory = try_load(folder);
  EXPECT_NE(directory.status, MODELRUN_OK);
}

TEST_F(OnnxRuntimeLoad, NewerVersionsAreRefusedWithAdvice) {
  Graph graph = add_graph();
  graph.ir_version = 99;
  Result result = try_load(graph);
  EXPECT_NE(result.status, MODELRUN_OK);
  EXPECT_TRUE(has(result.text, "IR version: 99"));
  EXPECT_TRUE(has(result.text, "install a later ONNX Runtime"));
  graph = add_graph();
  graph.opset = 99;
  result = try_load(graph);
  EXPECT_NE(result.status, MODELRUN_OK);
  EXPECT_TRUE(has(result.text, "install a later ONNX Runtime"));
}

TEST_F(OnnxRuntimeLoad, UnknownOperatorIsNamed) {
  Graph graph = add_graph();
  graph.nodes[0] = {"Frobnicate", {"x", "y"}, {"sum"}, {}, "my_ops"};
  const Result result = try_load(graph);
  EXPECT_NE(result.status, MODELRUN_OK);
  EXPECT_TRUE(has(result.text, "my_ops"));
  EXPECT_TRUE(has(result.text, "Frobnicate"));
}

TEST_F(OnnxRuntimeLoad, Bfloat16WithoutKernelSaysSo) {
  const Result result =
      try_load({.inputs = {{"x", tensor_type(kBfloat16, {2, 2})}},
                .outputs = {{"y", tensor_type(kBfloat16, {2, 2})}},
                .nodes = {{"MatMul", {"x", "x"}, {"y"}}}});
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "MatMul"));
  EXPECT_TRUE(has(result.text,
                  "no kernel for this operator with these "
                  "data types"));
}

TEST_F(OnnxRuntimeLoad, NothingIsPrintedAndWarningsReachTheHost) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Graph graph = add_graph();
  // An initializer that nothing uses: the runtime warns.
  graph.initializers = {initializer("unused", kFloat, {2}, raw<float>({1, 2}))};
  load(graph);
  EXPECT_NE(try_load(folder / "none.onnx").status, MODELRUN_OK);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(host->lines.empty());
  EXPECT_TRUE(has(host->lines[0], "unused"));
  EXPECT_EQ(host->levels[0], MODELRUN_LOG_WARNING);
}

TEST_F(OnnxRuntimeLoad, LogGoesToTheBackendThatIsStillThere) {
  Host second(library.c_str());
  modelrun_backend* other = nullptr;
  ASSERT_EQ(
      call(onnxruntime_table().backend_create, &second.host, &other).status,
      MODELRUN_OK);
  onnxruntime_table().backend_destroy(other);
  const auto before = second.lines.size();
  Graph graph = add_graph();
  graph.initializers = {initializer("unused", kFloat, {2}, raw<float>({1, 2}))};
  load(graph);
  EXPECT_EQ(second.lines.size(), before);
  EXPECT_FALSE(host->lines.empty());
}

Graph external_graph(const std::string& location, const std::string& offset,
                     const std::string& length) {
  return {
      .inputs = {{"x", tensor_type(kFloat, {4})}},
      .outputs = {{"y", tensor_type(kFloat, {4})}},
      .nodes = {{"Add", {"x", "w"}, {"y"}}},
      .initializers = {initializer(
          "w", kFloat, {4}, "",
          {{"location", location}, {"offset", offset}, {"length", length}})}};
}

TEST_F(OnnxRuntimeLoad, ExternalDataIsFoundBesideTheGraphInAnyFolder) {
  folder /= "модель 模型 é";
  std::filesystem::create_directory(folder);
  write_file(folder / "the weights", raw<float>({10, 20, 30, 40}));
  Call call(load(external_graph("the weights", "0", "16")));
  std::vector<float> x{1, 2, 3, 4};
  call.input(0, {x, {4}});
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{11, 22, 33, 44}));
  folder = folder.parent_path();
}

TEST_F(OnnxRuntimeLoad, LinksOfAHubCacheAreFollowed) {
  namespace fs = std::filesystem;
  const auto repo = folder / "models--org--name";
  const auto snapshot = repo / "snapshots" / "abc";
  fs::create_directories(snapshot);
  fs::create_directories(repo / "blobs");
  write_file(repo / "blobs" / "1", external_graph("w.data", "0", "16").text());
  write_file(repo / "blobs" / "2", raw<float>({10, 20, 30, 40}));
  fs::create_symlink("../../blobs/1", snapshot / "model.onnx");
  fs::create_symlink("../../blobs/2", snapshot / "w.data");
  fs::create_directory_symlink(repo, folder / "link");
  for (const auto& path :
       {snapshot / "model.onnx",
        folder / "link" / "snapshots" / "abc" / "model.onnx"}) {
    Call call(load(path));
    std::vector<float> x{1, 2, 3, 4};
    call.input(0, {x, {4}});
    call.run();
    EXPECT_EQ(values_of<float>(call.fetch(0)), (Floats{11, 22, 33, 44}));
  }
}

TEST_F(OnnxRuntimeLoad, MissingOrShortExternalDataIsRefusedAtLoad) {
  Result result = try_load(external_graph("absent", "0", "16"));
  EXPECT_NE(result.status, MODELRUN_OK);
  EXPECT_TRUE(has(result.text, "absent"));
  write_file(folder / "short", raw<float>({10, 20}));
  result = try_load(external_graph("short", "0", "16"));
  EXPECT_NE(result.status, MODELRUN_OK);
  write_file(folder / "good", raw<float>({10, 20, 30, 40}));
  result = try_load(external_graph("good", "4611686018427387904", "16"));
  EXPECT_NE(result.status, MODELRUN_OK);
}

}  // namespace
}  // namespace modelrun::onnxruntime_test
