// SPDX-License-Identifier: Apache-2.0
// Archives that are broken, of another kind, or hold what cannot be run.
#include <random>

#include "torch_archive.h"
#include "torch_table.h"

namespace modelrun::torch_test {
namespace {

class TorchArchives : public TorchTest {
 protected:
  Result try_text(const std::string& text, const std::string& options = "{}") {
    const auto path = folder / "model.pt2";
    write_file(path, text);
    return try_load(path, options);
  }
};

/// `y = x * scale`.
ProgramFile scaled() {
  ProgramFile file;
  file.buffer("scale", {2, 3})
      .input("x", list({number(2)}))
      .value("y", list({number(2)}));
  file.node("torch.ops.aten.mul.Tensor",
            {{"self", tensor("x")}, {"other", tensor("scale")}}, {tensor("y")});
  file.output(tensor("y"));
  return file;
}

TEST_F(TorchArchives, TheWholeOneRuns) {
  ProgramFile file = scaled();
  require_ok(try_text(file.text()));
  Call request(table(), sessions.back());
  Floats x{1, 2};
  request.input(0, View(x, {2}));
  request.run();
  EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{2, 6}));
}

TEST_F(TorchArchives, ATruncatedOneIsRefused) {
  const std::string whole = read_file(program("oddities"));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const Result result = try_text(whole.substr(0, size));
    ASSERT_EQ(result.status, MODELRUN_INVALID_ARGUMENT) << size;
    ASSERT_TRUE(has(result.text, "model.pt2: is ")) << size;
  }
}

TEST_F(TorchArchives, AFlippedBitIsRefusedOrChangesNothing) {
  const std::string whole = read_file(program("oddities"));
  std::mt19937 random(7);
  for (int flip = 0; flip < 200; ++flip) {
    std::string text = whole;
    text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    const Result result = try_text(text);
    if (result.status != MODELRUN_OK) {
      EXPECT_NE(result.text, "");
      continue;
    }
    // Of padding, or of a record that is not read.
    EXPECT_EQ(signature(sessions.back()).output_count, 17U);
  }
}

TEST_F(TorchArchives, AFlippedBitIsRefusedOrGivesTheSameNumbers) {
  ProgramFile file = scaled();
  const std::string whole = file.text();
  std::mt19937 random(11);
  int loaded = 0;
  for (int flip = 0; flip < 400; ++flip) {
    std::string text = whole;
    text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    if (try_text(text).status != MODELRUN_OK) continue;
    ++loaded;
    Call request(table(), sessions.back());
    Floats x{1, 2};
    ASSERT_EQ(signature(sessions.back()).input_count, 1U) << flip;
    request.input(0, View(x, {2}));
    request.run();
    EXPECT_EQ(values_of<float>(request.fetch(0)), (Floats{2, 6})) << flip;
  }
  // Of padding, and of fields of the zip file that nothing depends on.
  EXPECT_GT(loaded, 0);
}

TEST_F(TorchArchives, ADirectoryOfAHugeCountIsRefused) {
  ProgramFile file = scaled();
  std::string text = file.text();
  const std::size_t end = text.size() - 22;
  text.replace(end + 8, 4, "\xFE\xFF\xFE\xFF");
  EXPECT_TRUE(has(try_text(text).text, "too short for 65534 records"));
  text.replace(end + 12, 4, "\xF0\xFF\xFF\x7F");
  EXPECT_TRUE(has(try_text(text).text, "ends past the end of the file"));
}

TEST_F(TorchArchives, OnlyTheCpuPartOfTorchIsOpen) {
  require_ok(try_text(read_file(program("oddities"))));
  const std::string maps = read_file("/proc/self/maps");
  EXPECT_TRUE(has(maps, "/libtorch_cpu.so"));
  EXPECT_FALSE(has(maps, "/libtorch_cuda.so"));
}

TEST_F(TorchArchives, AMissingRecordIsNamed) {
  EXPECT_TRUE(has(try_text(ZipFile().add("byteorder", "little").text()).text,
                  "has no program in models/"));
  EXPECT_TRUE(
      has(try_text(ZipFile().add("models/model.json", "{}").text()).text,
          "field 'schema_version' is missing"));
  ProgramFile file = scaled();
  file.config["scale"]["path_name"] = "weight_7";
  EXPECT_TRUE(
      has(try_text(file.text()).text, "has no record 'data/weights/weight_7'"));
  file.config.erase("scale");
  EXPECT_EQ(try_text(file.text()).status, MODELRUN_INVALID_ARGUMENT);
}

TEST_F(TorchArchives, ACompressedRecordIsRefused) {
  const Result result =
      try_text(ZipFile().add("models/model.json", "{}", 8).text());
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "is compressed or encrypted"));
}

TEST_F(TorchArchives, WhatIsNoZipFileIsRefused) {
  EXPECT_TRUE(has(try_text("").text, "is too short to be a zip file"));
  EXPECT_TRUE(has(try_text(std::string(5000, 'x')).text, "is no zip file"));
  EXPECT_EQ(try_load(folder / "none.pt2").status, MODELRUN_NOT_FOUND);
}

TEST_F(TorchArchives, AnotherSchemaIsRefusedWithBothVersions) {
  ProgramFile file = scaled();
  file.program["schema_version"]["major"] = 9;
  file.program["torch_version"] = "3.1.0";
  const Result result = try_text(file.text());
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text,
                  "it is of schema 9, written by torch '3.1.0', expected 8"));
}

TEST_F(TorchArchives, AnUnknownOperatorIsNamedWithItsNode) {
  ProgramFile file = scaled();
  file.graph()["nodes"][0]["target"] = "torch.ops.aten.no_such.default";
  const Result result = try_text(file.text());
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text,
                  "node 0 'n0' ('torch.ops.aten.no_such.default'): torch has "
                  "no such operator"));
  file.graph()["nodes"][0]["target"] = "torch.ops.higher_order.map_impl";
  EXPECT_TRUE(has(try_text(file.text()).text, "those that can are: cond, "));
  file.graph()["nodes"][0]["target"] = "os.system";
  EXPECT_EQ(try_text(file.text()).status, MODELRUN_UNSUPPORTED);
  file.graph()["nodes"][0]["target"] = "torch.ops.aten.from_file.default";
  EXPECT_TRUE(has(try_text(file.text()).text, "may not open files"));
}

TEST_F(TorchArchives, ArgumentsThatDoNotFitAreRefused) {
  const auto text_with = [&](const Json& argument) {
    ProgramFile file = scaled();
    file.graph()["nodes"][0]["inputs"][1]["arg"] = argument;
    return try_text(file.text()).text;
  };
  EXPECT_TRUE(has(text_with(tensor("none")),
                  "argument 'other': it reads 'none', which nothing before it "
                  "makes"));
  EXPECT_TRUE(
      has(text_with({{"as_string", "no"}}), "does not take a constant"));
  EXPECT_TRUE(has(text_with({{"as_ints", {1}}}), "takes no list"));
  EXPECT_TRUE(has(text_with({{"as_none", true}}), "takes no None"));
  EXPECT_TRUE(has(text_with({{"as_operator", "x"}}), "kind 'as_operator'"));
  EXPECT_TRUE(has(text_with({{"as_int", "1"}}), "as_int: expected"));
  ProgramFile file = scaled();
  file.graph()["nodes"][0]["inputs"][1]["name"] = "else";
  EXPECT_TRUE(has(try_text(file.text()).text, "argument 'other': it is not"));
}

TEST_F(TorchArchives, WeightsThatDoNotFitTheirRecordAreRefused) {
  const auto text_with = [&](const char* field, const Json& value) {
    ProgramFile file = scaled();
    file.config["scale"]["tensor_meta"][field] = value;
    return try_text(file.text()).text;
  };
  EXPECT_TRUE(has(text_with("sizes", list({number(3)})), "need 12 bytes"));
  EXPECT_TRUE(has(text_with("storage_offset", number(1)), "need 12 bytes"));
  EXPECT_TRUE(has(text_with("dtype", 8), "need 16 bytes"));
  EXPECT_TRUE(has(text_with("dtype", 99), "number of an element type"));
  EXPECT_TRUE(has(text_with("sizes", list({number(-1)})), "0 or more"));
  EXPECT_TRUE(has(text_with("sizes", list({number(INT64_MAX)})), "no memory"));
  EXPECT_TRUE(has(text_with("sizes", Json::array()), "do not fit together"));
  EXPECT_TRUE(has(text_with("layout", 1), "only strided"));
}

TEST_F(TorchArchives, OptionsAreChecked) {
  const std::string text = read_file(program("oddities"));
  EXPECT_TRUE(has(try_text(text, R"({"thread": 1})").text,
                  "known are: allow_native_code, device, "
                  "in_constants, threads"));
  EXPECT_EQ(try_text(text, R"({"threads": 0})").status,
            MODELRUN_INVALID_ARGUMENT);
  EXPECT_EQ(try_text(text, R"({"device": "cuda:0"})").status,
            MODELRUN_UNSUPPORTED);
  EXPECT_EQ(try_text(text, R"({"in_constants": [3]})").status,
            MODELRUN_INVALID_ARGUMENT);
  require_ok(try_text(text, R"({"threads": 2, "device": "cpu"})"));
  EXPECT_EQ(describe(sessions.back())["threads"], 2);
  EXPECT_EQ(describe(nullptr)["formats"], nlohmann::json({"dynamo"}));
}

}  // namespace
}  // namespace modelrun::torch_test
