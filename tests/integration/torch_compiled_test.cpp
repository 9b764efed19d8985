// SPDX-License-Identifier: Apache-2.0
// Archives with compiled code in them that must not be opened. What can be is
// compiled and run by torch_compile_test.py.
#include <sys/utsname.h>

#include "torch_archive.h"
#include "torch_table.h"

namespace modelrun::torch_test {
namespace {

constexpr const char* kAllowed = R"({"allow_native_code": true})";
constexpr const char* kFolder = "data/aotinductor/model/";

class TorchCompiled : public TorchTest {
 protected:
  void SetUp() override {
    TorchTest::SetUp();
    if (IsSkipped()) return;
    cache = folder / "cache";
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    TorchTest::TearDown();
  }

  /// `y = x + 1` with files of compiled code, by their names.
  Result try_files(
      const std::vector<std::pair<std::string, std::string>>& files,
      const std::string& options = kAllowed) {
    ProgramFile program = add_one();
    return try_program(program, files, options);
  }
  Result try_program(
      ProgramFile& program,
      const std::vector<std::pair<std::string, std::string>>& files,
      const std::string& options = kAllowed) {
    ZipFile zip = program.zip();
    for (const auto& [name, bytes] : files) zip.add(name, bytes);
    write_file(folder / "model.pt2", zip.text());
    return try_load(folder / "model.pt2", options);
  }

  static ProgramFile add_one() {
    ProgramFile file;
    file.input("x", list({number(2)})).value("y", list({number(2)}));
    file.node("torch.ops.aten.add.Tensor",
              {{"self", tensor("x")}, {"other", {{"as_int", 1}}}},
              {tensor("y")});
    file.output(tensor("y"));
    return file;
  }
  static std::string metadata(const char* key = nullptr,
                              const std::string& value = {}) {
    utsname system{};
    uname(&system);
    Json json{{"AOTI_DEVICE_KEY", "cpu"},
              {"AOTI_PLATFORM", "linux"},
              {"AOTI_MACHINE", system.machine},
              {"AOTI_CPU_ISA", "INVALID_VEC_ISA"}};
    if (key != nullptr) json[key] = value;
    return json.dump();
  }
  static std::pair<std::string, std::string> described(
      const char* key = nullptr, const std::string& value = {}) {
    return {std::string(kFolder) + "m_metadata.json", metadata(key, value)};
  }
  static std::pair<std::string, std::string> library(
      const std::string& bytes = "no library") {
    return {std::string(kFolder) + "m.so", bytes};
  }
  /// What is in the cache, and in the folder that it is in.
  std::vector<std::string> unpacked() const {
    std::vector<std::string> names;
    const auto place = cache / "modelrun" / "aotinductor";
    if (!std::filesystem::exists(place)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::filesystem::path cache;
};

TEST_F(TorchCompiled, IsRefusedUnlessItIsAllowed) {
  for (const char* options : {"{}", R"({"allow_native_code": false})"}) {
    const Result result = try_files({described(), library()}, options);
    EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
    EXPECT_TRUE(has(result.text, "holds native code"));
    EXPECT_TRUE(has(result.text, "allow_native_code=true"));
  }
  EXPECT_TRUE(has(try_files({}, R"({"allow_native_code": 1})").text,
                  "expected true or false, got 1"));
  EXPECT_TRUE(unpacked().empty());
}

TEST_F(TorchCompiled, APackageWithoutItsProgramIsRefused) {
  write_file(folder / "model.pt2", ZipFile().add(library().first, "").text());
  const Result result = try_load(folder / "model.pt2", kAllowed);
  EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(result.text, "make one that has it with 'modelrun compile'"));
}

TEST_F(TorchCompiled, CodeForAnotherMachineIsRefusedBeforeItIsUnpacked) {
  const auto text_with = [&](const char* key, const std::string& value) {
    const Result result = try_files({described(key, value), library()});
    EXPECT_EQ(result.status, MODELRUN_UNSUPPORTED);
    return result.text;
  };
  EXPECT_TRUE(has(text_with("AOTI_CPU_ISA", "AVX512 SUPER_VECTORS"),
                  "uses 'SUPER_VECTORS' instructions, which this processor "
                  "does not have"));
  EXPECT_TRUE(has(text_with("AOTI_MACHINE", "pdp11"),
                  "AOTI_MACHINE is 'pdp11', expected"));
  EXPECT_TRUE(has(text_with("AOTI_PLATFORM", "win32"), "expected 'linux'"));
  EXPECT_TRUE(has(text_with("AOTI_DEVICE_KEY", "cuda"), "expected 'cpu'"));
  const Result untold = try_files({library()});
  EXPECT_EQ(untold.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(untold.text, "does not say which instructions"));
  const Result listed =
      try_files({described(),
                 library(),
                 {std::string(kFolder) + "modelrun.json",
                  R"({"processor_features": ["time_travel"]})"}});
  EXPECT_EQ(listed.status, MODELRUN_UNSUPPORTED);
  EXPECT_TRUE(has(listed.text, "uses 'time_travel' instructions"));
  EXPECT_TRUE(unpacked().empty());
}

TEST_F(TorchCompiled, CodeThatWouldLeaveItsFolderIsRefused) {
  for (const char* name :
       {"../../evil.so", "sub/evil.so", "..", "a\\b.so", "/evil.so"}) {
    const Result result =
        try_files({described(), library(), {std::string(kFolder) + name, "x"}});
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT) << name;
    EXPECT_TRUE(has(result.text, "would be unpacked outside of its folder"))
        << result.text;
  }
  const Result result =
      try_files({described(), library(), {"data/aotinductor/other/m.so", "x"}});
  EXPECT_TRUE(has(result.text, "the one place where modelrun reads it"));
  EXPECT_TRUE(unpacked().empty());
}

TEST_F(TorchCompiled, RecordsThatOverlapAreNoBomb) {
  // Each entry of the directory is for the same large record.
  ProgramFile program = add_one();
  ZipFile zip = program.zip();
  const std::string first = std::string(kFolder) + "0000.so";
  zip.add(described().first, described().second);
  zip.add(first, std::string(100000, 'x'));
  for (int i = 1; i < 1000; ++i) {
    std::string name = std::to_string(i);
    name.insert(0, 4 - name.size(), '0');
    zip.add_again(std::string(kFolder) + name + ".so");
  }
  write_file(folder / "model.pt2", zip.text());
  const Result result = try_load(folder / "model.pt2", kAllowed);
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text, "larger than the whole archive"));
  EXPECT_TRUE(unpacked().empty());
}

TEST_F(TorchCompiled, WhatCannotBeOpenedIsAnErrorAndLeavesNoTemporary) {
  const Result result = try_files({described(), library()});
  EXPECT_EQ(result.status, MODELRUN_BACKEND_ERROR);
  EXPECT_TRUE(has(result.text, "cannot be opened"));
  ASSERT_EQ(unpacked().size(), 1U);
  EXPECT_EQ(unpacked()[0].size(), 64U);
  // Another content has another folder; the same has the same one.
  (void)try_files({described(), library()});
  EXPECT_EQ(unpacked().size(), 1U);
  (void)try_files({described(), library("else")});
  EXPECT_EQ(unpacked().size(), 2U);
  EXPECT_TRUE(has(try_files({described()}).text, "has no library in"));
  EXPECT_TRUE(has(
      try_files({described(), library(), {std::string(kFolder) + "n.so", ""}})
          .text,
      "has several libraries"));
}

TEST_F(TorchCompiled, OldTemporariesAreRemoved) {
  namespace fs = std::filesystem;
  const auto place = cache / "modelrun" / "aotinductor";
  const fs::path old = place / "abc.tmp-123456";
  const fs::path young = place / "def.tmp-123456";
  fs::create_directories(old);
  fs::create_directories(young);
  fs::last_write_time(
      old, fs::file_time_type::clock::now() - std::chrono::hours(25));
  (void)try_files({described(), library()});
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(TorchCompiled, WhatCompiledCodeCannotDoIsRefused) {
  ProgramFile counts;
  counts.buffer("count", {0}).value("next", list({number(1)}));
  counts.node("torch.ops.aten.add_.Tensor",
              {{"self", tensor("count")}, {"other", {{"as_int", 1}}}},
              {tensor("next")});
  counts.output(tensor("next"));
  EXPECT_TRUE(has(try_program(counts, {described(), library()}).text,
                  "carry that over from one call to another"));
  ProgramFile sized = add_one();
  sized.user_input("n", size("n"));
  EXPECT_TRUE(has(try_program(sized, {described(), library()}).text,
                  "input 1 is a number, and compiled code takes tensors only"));
}

}  // namespace
}  // namespace modelrun::torch_test
