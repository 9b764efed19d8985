// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "support/fake_export.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using testing::FakeExport;
using testing::FakeFolder;
using testing::FakeProgram;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

FakeProgram doubling() {
  FakeProgram program;
  program.input({.name = "x", .dims = {-1}, .symbols = {"n"}})
      .sum({.name = "y", .dims = {-1}, .symbols = {"n"}}, "x", "x");
  return program;
}

TEST(SavePretrained, CopyIsTheSameExport) {
  FakeExport fake;
  fake.add("model", doubling(), {{"architecture", "Doubling"}});
  fake.folder().write("config.json", R"({"width": 4})");
  fake.folder().write("notes.txt", "not a part of the export");
  const FakeFolder folder;
  const fs::path copy = folder.path() / "new" / "copy";
  fake.load().save_pretrained(copy);
  EXPECT_EQ(names_in(copy), (std::vector<std::string>{
                                "config.json", "export.json", "model.pt2"}));
  EXPECT_EQ(text_of(copy / "export.json"),
            text_of(fake.path() / "export.json"));
  const auto model = ExportedModel::from_pretrained(copy, {.backend = "fake"});
  EXPECT_EQ(model.program().architecture, "Doubling");
  EXPECT_EQ(model.config()["width"].as<std::int64_t>(), 4);
}

TEST(SavePretrained, ComponentIsSavedAlone) {
  FakeExport fake;
  fake.add("prefill", doubling()).add("decode", doubling());
  const FakeFolder folder;
  fake.load().component("decode").save_pretrained(folder.path());
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"decode.pt2", "export.json"}));
  const auto model =
      ExportedModel::from_pretrained(folder.path(), {.backend = "fake"});
  EXPECT_EQ(model.components(), std::vector<std::string>{"decode"});
}

TEST(SavePretrained, MayWriteOverItself) {
  FakeExport fake;
  fake.add("model", doubling());
  const std::string before = text_of(fake.path() / "model.pt2");
  const auto model = fake.load();
  model.save_pretrained(fake.path());
  EXPECT_EQ(text_of(fake.path() / "model.pt2"), before);
  EXPECT_EQ(names_in(fake.path()),
            (std::vector<std::string>{"export.json", "model.pt2"}));
}

TEST(SavePretrained, AFileThatIsGoneLeavesNothingBehind) {
  FakeExport fake;
  fake.add("a", doubling()).add("b", doubling());
  const auto model = fake.load();
  fs::remove(fake.path() / "b.pt2");
  const FakeFolder folder;
  const std::string error = error_of<NotFound>(
      [&] { model.save_pretrained(folder.path() / "copy"); });
  EXPECT_NE(error.find("b.pt2"), std::string::npos) << error;
  EXPECT_TRUE(names_in(folder.path() / "copy").empty());
}

TEST(Program, TellsWhatTheRuntimeSaysOfTheProgram) {
  FakeExport fake;
  fake.add("model", doubling());
  const ComponentDescription program = fake.load().program();
  EXPECT_EQ(program.file, fake.path() / "model.pt2");
  ASSERT_EQ(program.inputs.size(), 1u);
  EXPECT_EQ(program.inputs[0].name, "x");
  EXPECT_EQ(program.inputs[0].dtype, DType::float32);
  EXPECT_EQ(program.inputs[0].shape, std::vector<std::string>{"n"});
  EXPECT_EQ(program.outputs.at(0).name, "y");
}

TEST(Program, OfSeveralComponentsIsRefused) {
  FakeExport fake;
  fake.add("a", doubling()).add("b", doubling());
  EXPECT_THROW((void)fake.load().program(), InvalidArgument);
}

FakeExport endless() {
  FakeProgram program = doubling();
  program.wait_for_cancel();
  FakeExport fake;
  fake.add("model", program);
  return fake;
}

TEST(Stop, EndsARun) {
  const auto model = endless().load();
  std::stop_source stop;
  std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto x = Tensor::from<float>({1, 2}, {2});
  const std::string error = error_of<BackendError>(
      [&] { (void)model({{"x", x}}, {.stop = stop.get_token()}); });
  EXPECT_NE(error.find("cancel"), std::string::npos) << error;
}

TEST(Stop, BeforeTheRunRunsNothing) {
  const auto model = endless().load();
  std::stop_source stop;
  stop.request_stop();
  const auto x = Tensor::from<float>({1, 2}, {2});
  EXPECT_THROW((void)model({{"x", x}}, {.stop = stop.get_token()}),
               BackendError);
  auto bound = model.bind({{"x", x}});
  EXPECT_THROW((void)bound(stop.get_token()), BackendError);
}

}  // namespace
}  // namespace modelrun
