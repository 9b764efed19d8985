// SPDX-License-Identifier: Apache-2.0
// Opening the runtime, options, loading and their errors.
#include <cstring>
#include <random>

#include "executorch_table.h"

namespace modelrun::executorch_test {
namespace {

using ExecuTorchLoad = ExecuTorchTest;

/// A program's bytes with every `from` replaced by `to`, of the same length.
std::string patched(std::string text, const std::string& from,
                    const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  for (; at != text.npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_F(ExecuTorchLoad, PluginSaysWhatItIs) {
  EXPECT_EQ(table().struct_size, sizeof(modelrun_backend_table));
  EXPECT_EQ(table().abi, MODELRUN_BACKEND_ABI);
  EXPECT_STREQ(table().name, "executorch");
}

TEST_F(ExecuTorchLoad, BackendDescribesItself) {
  load(program("bert"));
  const auto json = describe(nullptr);
  EXPECT_EQ(json["runtime"], "executorch");
  EXPECT_TRUE(has(json["version"].get<std::string>(), "1."));
  EXPECT_EQ(json["devices"], nlohmann::json::array({"cpu"}));
  EXPECT_EQ(json["options"],
            nlohmann::json::array({"device", "in_constants", "threads"}));
  EXPECT_TRUE(has(json["delegates"].dump(), "XnnpackBackend"));
}

TEST_F(ExecuTorchLoad, SessionDescribesItselfWithItsBounds) {
  const auto json = describe(load(program("bert")));
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["precision"], "export");
  EXPECT_EQ(json["method"], "forward");
  EXPECT_EQ(json["delegates"], nlohmann::json::array({"XnnpackBackend"}));
  EXPECT_EQ(json["upper_bounds"]["inputs"]["#0"][1], 64);
}

TEST_F(ExecuTorchLoad, SignatureTellsDynamicPorts) {
  const auto& signature = *table().session_signature(load(program("bert")));
  ASSERT_EQ(signature.input_count, 2);
  EXPECT_STREQ(signature.inputs[1].name, "#1");
  EXPECT_EQ(signature.inputs[1].dtype.code, kDLInt);
  EXPECT_EQ(signature.inputs[1].dtype.bits, 64);
  ASSERT_EQ(signature.inputs[1].rank, 2);
  EXPECT_EQ(signature.inputs[1].dims[0], -1);
  EXPECT_EQ(signature.inputs[1].dims[1], -1);
  ASSERT_EQ(signature.output_count, 2);
  EXPECT_EQ(signature.outputs[0].rank, 3);
  EXPECT_EQ(signature.state_count, 0);
}

TEST_F(ExecuTorchLoad, ScalarInputsAreNoPortsAndLeaveTheirPositions) {
  const auto& signature =
      *table().session_signature(load(program("constants")));
  ASSERT_EQ(signature.input_count, 3);
  EXPECT_STREQ(signature.inputs[0].name, "#0");
  EXPECT_STREQ(signature.inputs[1].name, "#2");
  EXPECT_STREQ(signature.inputs[2].name, "#5");
}

TEST_F(ExecuTorchLoad, AnotherConstantThanTheProgramsIsRefused) {
  const auto file = program("constants");
  const auto refused = [&](const std::string& constants) {
    const Result result =
        try_load(file, R"({"in_constants": [)" + constants + "]}");
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT) << constants;
    return result.text;
  };
  EXPECT_EQ(refused("[3, 4]"),
            "executorch option 'in_constants': input '#3' cannot be 4, the "
            "program was exported for 3");
  EXPECT_TRUE(has(refused("[1, false]"),
                  "'#1' cannot be false, the program "
                  "was exported for true"));
  EXPECT_TRUE(has(refused("[7, 0.25]"), "exported for 0.5"));
  EXPECT_TRUE(has(refused("[0, 1]"), "it takes a tensor"));
  EXPECT_TRUE(has(refused("[99, 1]"), "the program has 8 inputs"));
  require_ok(try_load(file, R"({"in_constants": [[1, true], [3, 3],
      [4, "add"], [6, null], [7, 0.5]]})"));
}

TEST_F(ExecuTorchLoad, UnknownOptionListsTheKnownOnes) {
  const Result result = try_load(program("bert"), R"({"thread": 2})");
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(result.text,
            "unknown executorch option \"thread\"; known are: device, "
            "in_constants, threads");
}

TEST_F(ExecuTorchLoad, OptionsOfTheWrongTypeAreRefused) {
  for (const char* options :
       {R"({"threads": "2"})", R"({"threads": 0})", R"({"threads": 1.5})",
        R"({"device": 0})", R"({"in_constants": {}})",
        R"({"in_constants": [[1]]})", R"({"in_constants": [[-1, 2]]})",
        R"({"in_constants": [[0, []]]})", "[]", "", "{\"\xff\": 1}"}) {
    const Result result = try_load(program("bert"), options);
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT) << options;
    EXPECT_TRUE(has(result.text, "executorch option")) << options;
  }
}

TEST_F(ExecuTorchLoad, AnotherDeviceIsRefusedAndNeverReplaced) {
  for (const char* device : {"cuda", "cuda:1", "gpu"}) {
    const Result result = try_load(
        program("bert"), R"({"device": ")" + std::string(device) + "\"}");
    EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
    EXPECT_TRUE(has(result.text, "expected \"cpu\""));
  }
}

TEST_F(ExecuTorchLoad, OneThreadIsAlwaysToBeHadAndAnotherNumberIsReported) {
  EXPECT_EQ(describe(load(program("bert"), R"({"threads": 2})"))["threads"], 2);
  EXPECT_EQ(describe(load(program("bert"), R"({"threads": 1})"))["threads"], 1);
  host->lines.clear();
  EXPECT_EQ(describe(load(program("bert"), R"({"threads": 3})"))["threads"], 2);
  const std::lock_guard lock(host->mutex);
  ASSERT_FALSE(host->lines.empty());
  EXPECT_TRUE(has(host->lines.front(),
                  "3 cannot be had, the process computes "
                  "with 2"));
}

TEST_F(ExecuTorchLoad, MissingFileIsNotFound) {
  const Result result = try_load(folder / "none.pte");
  EXPECT_EQ(result.status, MODELRUN_NOT_FOUND);
  EXPECT_TRUE(has(result.text, "none.pte': there is no such file"));
  EXPECT_EQ(try_load(folder).status, MODELRUN_INVALID_ARGUMENT);
}

TEST_F(ExecuTorchLoad, FilesThatAreCutAreRefused) {
  const std::string good = read_file(program("bert"));
  for (std::size_t part = 0; part < 32; ++part) {
    const std::size_t size = good.size() * part / 32;
    write_file(folder / "cut.pte", good.substr(0, size));
    const Result result = try_load(folder / "cut.pte");
    EXPECT_NE(result.status, MODELRUN_OK) << size;
    EXPECT_TRUE(has(result.text, "cut.pte")) << size;
  }
}

/// The bytes of a program that describe it, before the weights and what
/// delegates were given; its header says how many.
std::size_t described_bytes(const std::string& program) {
  std::uint64_t size = 0;
  std::memcpy(&size, program.data() + 16, sizeof size);
  return size;
}

TEST_F(ExecuTorchLoad, FlippedBitsAreRefusedOrStillRun) {
  const std::string good = read_file(program("t5-encoder"));
  std::mt19937 random(7);
  int refused = 0;
  for (int flip = 0; flip < 200; ++flip) {
    std::string bad = good;
    bad[random() % described_bytes(good)] ^=
        static_cast<char>(1U << (random() % 8));
    write_file(folder / "flipped.pte", bad);
    if (try_load(folder / "flipped.pte").status != MODELRUN_OK) {
      ++refused;
      continue;
    }
    Call call(sessions.back());
    std::vector<std::int64_t> ids(6, 1);
    for (std::size_t i = 0; i < call.signature.input_count; ++i) {
      static_cast<void>(call.try_input(i, {ids, {2, 3}}));
    }
    static_cast<void>(call.try_run());
    Fetched output;
    static_cast<void>(call.try_fetch(0, output));
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 200);
}

TEST_F(ExecuTorchLoad, OtherFilesAreRefused) {
  write_file(folder / "text.pte", std::string(4096, 'x'));
  const Result result = try_load(folder / "text.pte");
  EXPECT_NE(result.status, MODELRUN_OK);
  EXPECT_TRUE(has(result.text, "no ExecuTorch program"));
}

TEST_F(ExecuTorchLoad, MissingDelegatesAreNamedWithThoseThatAreHere) {
  write_file(folder / "other.pte", patched(read_file(program("bert")),
                                           "XnnpackBackend", "QuantumBackend"));
  const Result result = try_load(folder / "other.pte");
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "other.pte"));
  EXPECT_TRUE(has(result.text,
                  "delegates that are not here: QuantumBackend; "
                  "here are: "));
  EXPECT_TRUE(has(result.text, "XnnpackBackend"));
}

TEST_F(ExecuTorchLoad, EveryMissingOperatorIsNamed) {
  std::string text = read_file(program("bert"));
  text = patched(std::move(text), "aten::embedding", "aten::embeddinx");
  text = patched(std::move(text), "aten::where", "aten::wherf");
  write_file(folder / "ops.pte", text);
  const Result result = try_load(folder / "ops.pte");
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "aten::embeddinx.out, aten::wherf.self_out"));
  // What is registered stays usable.
  require_ok(try_load(program("bert")));
}

TEST_F(ExecuTorchLoad, AnotherRuntimeInTheProcessIsRefused) {
  Host other("/nowhere/libexecutorch.so");
  modelrun_backend* second = nullptr;
  const Result result = call(table().backend_create, &other.host, &second);
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "/nowhere/libexecutorch.so"));
  EXPECT_TRUE(has(result.text, "can have one only"));
}

TEST_F(ExecuTorchLoad, LoadingAgainAndAgainRegistersNothingTwice) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    load(program("bert"));
    modelrun_backend* second = nullptr;
    require_ok(call(table().backend_create, &host->host, &second));
    table().backend_destroy(second);
  }
}

}  // namespace
}  // namespace modelrun::executorch_test
