// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "backend/runtime_library.h"
#include "backend/runtime_search.h"
#include "modelrun/error.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::FakeFolder;

constexpr const char* kLibrary =
    "py/site-packages/openvino/libs/libopenvino.so";

TEST(RuntimeVersion, IsInTheFileNameOrInThatOfTheLinksTarget) {
  const FakeFolder folder;
  const fs::path file = folder.write("libx.so.2026.4.1");
  EXPECT_EQ(runtime_version(file, "x/lib"), "2026.4.1");
  const fs::path link = folder.path() / "libx.so.2641";
  fs::create_symlink(file.filename(), link);
  EXPECT_EQ(runtime_version(link, "x/lib"), "2026.4.1");
}

TEST(RuntimeVersion, IsThatOfThePackageThatHoldsIt) {
  const FakeFolder folder;
  const fs::path file = folder.write(std::string(kLibrary) + ".2641");
  EXPECT_EQ(runtime_version(file, "openvino/libs"), "");
  folder.write("py/site-packages/openvino_genai-2027.1.0.dist-info/METADATA");
  EXPECT_EQ(runtime_version(file, "openvino/libs"), "");
  folder.write("py/site-packages/openvino-2026.4.1.dist-info/METADATA");
  EXPECT_EQ(runtime_version(file, "openvino/libs"), "2026.4.1");
  EXPECT_EQ(runtime_version(file, "other/libs"), "");
}

TEST(RuntimeVersion, IsFoundWhereThePathGoesUpAndDown) {
  const FakeFolder folder;
  folder.write("executorch/lib/libexecutorch.so");
  folder.write("executorch/extension/pybindings/_C.so");
  folder.write("executorch-1.5.1.dist-info/METADATA");
  const fs::path from = folder.path() / "executorch/extension/pybindings";
  EXPECT_EQ(
      runtime_version(from / "../../lib/libexecutorch.so", "executorch/lib"),
      "1.5.1");
}

TEST(RuntimeVersion, LeavesOutTheBuild) {
  const FakeFolder folder;
  const fs::path file = folder.write("torch/lib/libtorch_cpu.so");
  folder.write("torch-2.15.0+cpu.dist-info/METADATA");
  EXPECT_EQ(runtime_version(file, "torch/lib"), "2.15.0");
}

TEST(FindLoaded, TakesTheLibraryAndItsVersionsOnly) {
  EXPECT_EQ(find_loaded({"/a/libx.so.1", "/b/libx.so"}, "libx.so"),
            "/a/libx.so.1");
  EXPECT_EQ(find_loaded({"/a/libxy.so", "/a/libx.sox", "/a/libx"}, "libx.so"),
            "");
}

TEST(LoadedLibraries, HoldTheCLibrary) {
  EXPECT_NE(find_loaded(loaded_libraries(), "libc.so"), "");
}

TEST(OpenRuntimeLibrary, BesideAnotherFileOfItNamesBoth) {
  const FakeFolder folder;
  const fs::path file = folder.write("libc.so.6");
  const fs::path loaded = find_loaded(loaded_libraries(), "libc.so");
  try {
    open_runtime_library(file, "libc.so");
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_EQ(error.what(),
              "runtime " + file.string() +
                  " cannot be opened: this process has " + loaded.string() +
                  " open already, and holds one only; name that one, or none, "
                  "or use a process of its own");
  }
  open_runtime_library(loaded, "libc.so");
}

TEST(OpenRuntimeLibrary, ThatIsNoLibraryGivesTheLinkersWords) {
  const FakeFolder folder;
  const fs::path file = folder.write("libnone.so", "text");
  try {
    open_runtime_library(file, "libnone.so");
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_EQ(error.what(), "runtime " + file.string() + " cannot be opened: " +
                                file.string() + ": file too short");
  }
}

TEST(RuntimeSearchOfATiedRelease, TakesWhatTheProcessHasOpen) {
  const FakeFolder folder;
  const fs::path open = folder.write("a/libopenvino.so.2026.4.1");
  const fs::path named = folder.write("b/libopenvino.so.2026.3.0");
  ProcessEnvironment environment;
  environment.loaded_libraries = {"/lib/libc.so.6", open};
  const auto& description = *runtime_description("openvino");
  const auto found = search_runtime(description, {}, environment);
  EXPECT_EQ(found.library, open);
  EXPECT_EQ(found.version, "2026.4.1");
  EXPECT_EQ(found.tried.back().source, "this process");
  EXPECT_EQ(search_runtime(description, named, environment).library, named);
}

TEST(RuntimeSearchOfAnyRelease, DoesNotMindWhatTheProcessHasOpen) {
  const FakeFolder folder;
  ProcessEnvironment environment;
  environment.loaded_libraries = {folder.write("libonnxruntime.so.1.32.0")};
  const auto& description = *runtime_description("onnxruntime");
  EXPECT_EQ(search_runtime(description, {}, environment).library, "");
}

}  // namespace
}  // namespace modelrun
