// SPDX-License-Identifier: Apache-2.0
// The backend, its options, and loading programs.
#include <nlohmann/json.hpp>
#include <sstream>

#include "openvino_table.h"

namespace modelrun::openvino_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using plugin_test::Floats;

const fs::path kModels = MODELRUN_TEST_MODELS;
const fs::path kBert = kModels / "bert/openvino/openvino_model.xml";

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class OpenVinoLoad : public OpenVinoTest {
 protected:
  Result refused(const std::string& options) {
    Result result = try_load(kBert, options);
    EXPECT_NE(result.status, MODELRUN_OK) << options;
    return result;
  }
  /// The hidden state of one token.
  Floats run_bert(modelrun_session* session) {
    Call call(session);
    std::vector<std::int64_t> ids{15}, mask{1};
    const auto& ports = signature(session);
    call.input(index_of(ports.inputs, 2, "input_ids"), {ids, {1, 1}});
    call.input(index_of(ports.inputs, 2, "attention_mask"), {mask, {1, 1}});
    call.run();
    return values_of<float>(
        call.fetch(index_of(ports.outputs, 2, "last_hidden_state")));
  }
};

TEST_F(OpenVinoLoad, BackendDescribesItself) {
  const Json text = describe(nullptr);
  EXPECT_EQ(text["runtime"], "openvino");
  EXPECT_EQ(text["version"], runtime().version);
  EXPECT_TRUE(
      fs::equivalent(text["library"].get<std::string>(), runtime().library));
  EXPECT_EQ(text["formats"], (Json{"openvino", "onnx"}));
  EXPECT_EQ(text["devices"][0], "cpu");
  EXPECT_EQ(text["options"],
            (Json{"cache_dir", "config", "device", "skip_repairs", "threads"}));
}

TEST_F(OpenVinoLoad, SessionDescribesWhatRunsWhere) {
  const Json text = describe(load(kBert, R"({"threads": 2})"));
  EXPECT_EQ(text["device"], "cpu");
  EXPECT_EQ(text["memory_device"], "cpu");
  EXPECT_EQ(text["threads"], 2);
  EXPECT_EQ(text["precision"], "float32");
  EXPECT_EQ(text["dynamic_quantization_group_size"], "0");
  EXPECT_EQ(describe(load(kBert))["threads"], 1);
}

// It computes in bfloat16 by itself where the processor can.
TEST_F(OpenVinoLoad, PrecisionIsTheExportsUnlessAskedOtherwise) {
  const auto precision = [&](const fs::path& path, const char* options) {
    return describe(load(path, options))["precision"].get<std::string>();
  };
  const char* faster =
      R"({"config": {"INFERENCE_PRECISION_HINT": "bf16"}, "threads": 1})";
  EXPECT_EQ(precision(kBert, "{}"), "float32");
  EXPECT_EQ(precision(kModels / "bert/onnx/model.onnx", "{}"), "float32");
  const std::string asked = precision(kBert, faster);
  // A processor without bfloat16 says that it computes in float32.
  EXPECT_TRUE(asked == "bfloat16" || asked == "float32") << asked;
  const fs::path half = kModels / "bert-bf16/openvino/openvino_model.xml";
  EXPECT_EQ(precision(half, "{}"), asked);
  EXPECT_EQ(precision(kModels / "bert-bf16/onnx/model.onnx", "{}"), asked);
}

TEST_F(OpenVinoLoad, Bfloat16OnnxRuns) {
  auto* session = load(kModels / "bert-bf16/onnx/model.onnx");
  const auto& ports = signature(session);
  Call call(session);
  std::vector<std::int64_t> ids{15}, mask{1};
  for (std::size_t i = 0; i < ports.input_count; ++i) {
    call.input(i,
               {ports.inputs[i].name == std::string("input_ids") ? ids : mask,
                {1, 1}});
  }
  call.run();
  const Fetched got = call.fetch(0);
  EXPECT_EQ(got->dl_tensor.dtype.code, kDLBfloat);
  EXPECT_EQ(shape_of(got), (std::vector<std::int64_t>{1, 1, 32}));
}

TEST_F(OpenVinoLoad, AutoIsADeviceBeforeItIsCompiledFor) {
  const Json text = describe(load(kBert, R"({"device": "auto"})"));
  const Json devices = describe(nullptr)["devices"];
  EXPECT_NE(std::find(devices.begin(), devices.end(), text["device"]),
            devices.end());
  EXPECT_EQ(text["precision"], "float32");
}

TEST_F(OpenVinoLoad, AnotherDeviceIsRefusedWithThoseThereAre) {
  for (const char* device : {"cuda:0", "xpu:7", "npu:3", "CPU", "cpu:1"}) {
    const Result result = refused(Json{{"device", device}}.dump());
    EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
    EXPECT_TRUE(has(result.text, "cannot run on '" + std::string(device) +
                                     "', expected one of: cpu"));
  }
}

TEST_F(OpenVinoLoad, OptionsThatAreNoneAreRefused) {
  EXPECT_EQ(refused(R"({"treads": 1})").text,
            "unknown openvino option \"treads\"; known are: cache_dir, "
            "config, device, skip_repairs, threads");
  EXPECT_TRUE(has(refused(R"({"threads": 0})").text,
                  "expected an integer from 1 to 1024, got 0"));
  EXPECT_TRUE(has(refused(R"({"config": 3})").text,
                  "expected an object of OpenVINO properties, got 3"));
  EXPECT_TRUE(has(refused(R"({"config": {"A": []}})").text,
                  "'config.A': expected a text, a number, true or false"));
  EXPECT_TRUE(has(refused(R"({"skip_repairs": ["x"]})").text,
                  R"(["attention_without_keys","kept_state_length"])"));
  EXPECT_TRUE(has(refused("[]").text, "expected one JSON object"));
}

TEST_F(OpenVinoLoad, UnknownPropertyIsNamed) {
  const Result result = refused(R"({"config": {"NO_SUCH_THING": 1}})");
  EXPECT_TRUE(has(result.text, "NO_SUCH_THING"));
}

TEST_F(OpenVinoLoad, ConfigGoesOverEverything) {
  const Json text = describe(
      load(kBert, R"({"threads": 2, "config": {"INFERENCE_NUM_THREADS": 1}})"));
  EXPECT_EQ(text["threads"], 1);
}

TEST_F(OpenVinoLoad, RepairsAreListedAndCanBeLeftOut) {
  const fs::path decode =
      kModels / "t5-generation/openvino/openvino_decode.xml";
  const auto* kept = "past_key_values.cross_attention_cache.layers.0.keys";
  auto* session = load(decode);
  EXPECT_EQ(describe(session)["repairs"]["kept_state_length"], 4);
  const auto dims = [&](modelrun_session* of) {
    const auto& ports = signature(of);
    return ports.states[index_of(ports.states, ports.state_count, kept)].dims;
  };
  EXPECT_EQ(dims(session)[2], -1);
  session = load(decode, R"({"skip_repairs": ["kept_state_length"]})");
  EXPECT_FALSE(describe(session)["repairs"].contains("kept_state_length"));
  EXPECT_EQ(dims(session)[2], 7);
  const auto plain = load(kModels / "constants/openvino/openvino_model.xml");
  EXPECT_EQ(describe(plain)["repairs"], Json::object());
}

TEST_F(OpenVinoLoad, MissingFileIsNotFound) {
  const Result result = try_load(folder / "none.xml");
  EXPECT_EQ(result.status, MODELRUN_NOT_FOUND);
  EXPECT_TRUE(has(result.text, "none.xml"));
}

TEST_F(OpenVinoLoad, FoldersOfAnyLettersAreFine) {
  const fs::path odd = folder / "модель 模型 é";
  fs::create_directories(odd / "cache");
  for (const char* name : {"openvino_model.xml", "openvino_model.bin"}) {
    fs::copy_file(kBert.parent_path() / name, odd / name);
  }
  const Json options{{"cache_dir", (odd / "cache").string()}, {"threads", 1}};
  EXPECT_EQ(run_bert(load(odd / "openvino_model.xml", options.dump())),
            run_bert(load(kBert)));
  EXPECT_FALSE(fs::is_empty(odd / "cache"));
}

TEST_F(OpenVinoLoad, CacheThatIsBrokenIsNoReasonNotToRun) {
  const fs::path cache = folder / "cache";
  const std::string options =
      Json{{"cache_dir", cache.string()}, {"threads", 1}}.dump();
  const Floats expected = run_bert(load(kBert, options));
  EXPECT_EQ(run_bert(load(kBert, options)), expected);
  for (const auto& entry : fs::directory_iterator(cache)) {
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }
  EXPECT_EQ(run_bert(load(kBert, options)), expected);
  std::ofstream(folder / "file") << "not a folder";
  const std::string wrong =
      Json{{"cache_dir", (folder / "file").string()}, {"threads", 1}}.dump();
  EXPECT_EQ(run_bert(load(kBert, wrong)), expected);
}

TEST_F(OpenVinoLoad, CutOffFilesAreRefused) {
  const std::string xml = read_text(kBert);
  const std::string bin = read_text(kBert.parent_path() / "openvino_model.bin");
  for (const double part : {0.0, 0.3, 0.9, 0.999}) {
    const auto cut = [&](const std::string& text) {
      return text.substr(
          0, static_cast<std::size_t>(part * static_cast<double>(text.size())));
    };
    std::ofstream(folder / "model.xml", std::ios::binary) << cut(xml);
    std::ofstream(folder / "model.bin", std::ios::binary) << bin;
    EXPECT_NE(try_load(folder / "model.xml").status, MODELRUN_OK) << part;
    std::ofstream(folder / "model.xml", std::ios::binary) << xml;
    std::ofstream(folder / "model.bin", std::ios::binary) << cut(bin);
    const Result result = try_load(folder / "model.xml");
    EXPECT_NE(result.status, MODELRUN_OK) << part;
    EXPECT_TRUE(has(result.text, "model.xml"));
  }
}

TEST_F(OpenVinoLoad, NothingIsPrinted) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  (void)run_bert(load(kBert));
  (void)try_load(kModels / "graphs/unknown_operator.onnx");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(OpenVinoLoad, ResizeThatIsLeftUnsmoothedIsRefusedByName) {
  using namespace onnxruntime_test;
  const auto image = tensor_type(kFloat, {1, 3, 11, 13});
  const auto resize = [&](const char* mode) {
    return Graph{.inputs = {{"pixels", image}},
                 .outputs = {{"smaller", tensor_type(kFloat, {1, 3, 5, 7})}},
                 .nodes = {{"Resize",
                            {"pixels", "", "", "sizes"},
                            {"smaller"},
                            {int_attribute("antialias", 1),
                             text_attribute("mode", mode)}}},
                 .initializers = {initializer("sizes", kInt64, {4},
                                              raw<std::int64_t>({1, 3, 5, 7}))}}
        .text();
  };
  write_file(folder / "cubic.onnx", resize("cubic"));
  const Result result = try_load(folder / "cubic.onnx");
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_EQ(result.text,
            "OpenVINO cannot run node 'smaller': it leaves the antialiasing of "
            "a cubic resize out; run the program on ONNX Runtime, or export "
            "the model in the format openvino, where the resize is written "
            "out");
  write_file(folder / "linear.onnx", resize("linear"));
  load(folder / "linear.onnx");
}

TEST_F(OpenVinoLoad, EmptyTensorThatIsReadAsOneElementIsRefused) {
  using namespace onnxruntime_test;
  const Graph graph{
      .inputs = {{"x", tensor_type(kFloat, {"batch", 4})}},
      .outputs = {{"y", tensor_type(kFloat, {"batch", 4})},
                  {"none", tensor_type(kFloat, {0, 4})}},
      .nodes = {{"Relu", {"x"}, {"y"}}, {"Identity", {"empty"}, {"none"}}},
      .initializers = {initializer("empty", kFloat, {0, 4}, "")}};
  write_file(folder / "empty.onnx", graph.text());
  const Result result = try_load(folder / "empty.onnx");
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "it reads output 'none' as ["));
  EXPECT_TRUE(has(result.text, "but the program says [0, 4]; run it on ONNX"));
}

}  // namespace
}  // namespace modelrun::openvino_test
