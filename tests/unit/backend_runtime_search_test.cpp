// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "backend/library_file.h"
#include "backend/runtime_search.h"
#include "support/fake_folder.h"

namespace modelrun {

static bool operator==(const RuntimeAttempt& a, const RuntimeAttempt& b) {
  return a.source == b.source && a.where == b.where && a.result == b.result;
}
[[maybe_unused]] static void PrintTo(const RuntimeAttempt& attempt,
                                     std::ostream* to) {
  *to << attempt.source << ": " << attempt.where << ": " << attempt.result;
}

namespace {

namespace fs = std::filesystem;
using testing::FakeFolder;

constexpr const char* kLibrary = "libonnxruntime.so";
constexpr const char* kCapi = "lib/python3.11/site-packages/onnxruntime/capi";

class SearchTest : public ::testing::Test {
 protected:
  RuntimeSearch search(const fs::path& explicit_path = {}) const {
    return search_runtime(*runtime_description("onnxruntime"), explicit_path,
                          environment_);
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  fs::path library(const fs::path& folder,
                   const std::string& version = "1.32.0") const {
    return folder_.write(folder / (std::string(kLibrary) + "." + version));
  }
  /// A Python environment that has the runtime's package.
  fs::path python_environment(const std::string& name) {
    return library(fs::path(name) / kCapi);
  }
  void python_on_path(const std::string& prefix) {
    const fs::path file = folder_.write(prefix + "/bin/python3",
                                        "\x7f"
                                        "ELF");
    fs::permissions(file, fs::perms::owner_all);
    environment_.variables["PATH"] = file.parent_path().string();
  }

  FakeFolder folder_;
  ProcessEnvironment environment_;
};

TEST_F(SearchTest, NamedLibraryIsTakenAsItIs) {
  const fs::path file = folder_.write("my-own-build.so");
  const auto found = search(file);
  EXPECT_EQ(found.library, file);
  EXPECT_EQ(
      found.tried,
      (std::vector<RuntimeAttempt>{{"option runtime_path", file, "found"}}));
}

TEST_F(SearchTest, NamedFolderIsSearchedWithItsLib) {
  const fs::path direct = library("a");
  EXPECT_EQ(search(at("a")).library, direct);
  const fs::path below = library("release/lib");
  const auto found = search(at("release"));
  EXPECT_EQ(found.library, below);
  EXPECT_EQ(
      found.tried,
      (std::vector<RuntimeAttempt>{
          {"option runtime_path", at("release"), "holds no libonnxruntime.so"},
          {"option runtime_path", below, "found"}}));
}

TEST_F(SearchTest, NamedPlaceWithoutOneIsTheEnd) {
  environment_.variables["VIRTUAL_ENV"] = at("venv");
  python_environment("venv");
  const auto missing = search(at("none"));
  EXPECT_TRUE(missing.library.empty());
  EXPECT_EQ(missing.tried,
            (std::vector<RuntimeAttempt>{{"option runtime_path", at("none"),
                                          "no such file or folder"}}));
  environment_.variables["MODELRUN_ONNXRUNTIME"] = at("venv");
  EXPECT_TRUE(search().library.empty());
}

TEST_F(SearchTest, PlacesComeInTheDocumentedOrder) {
  const fs::path system = library("usr/lib");
  environment_.system_folders = {at("usr/lib")};
  EXPECT_EQ(search().library, system);
  const fs::path linker = library("ld");
  environment_.variables["LD_LIBRARY_PATH"] = at("ld");
  EXPECT_EQ(search().library, linker);
  const fs::path python = python_environment("py");
  python_on_path("py");
  EXPECT_EQ(search().library, python);
  const fs::path conda = python_environment("conda");
  environment_.variables["CONDA_PREFIX"] = at("conda");
  EXPECT_EQ(search().library, conda);
  const fs::path venv = python_environment("venv");
  environment_.variables["VIRTUAL_ENV"] = at("venv");
  EXPECT_EQ(search().library, venv);
  const fs::path variable = library("variable");
  environment_.variables["MODELRUN_ONNXRUNTIME"] = at("variable");
  EXPECT_EQ(search().library, variable);
  const fs::path option = library("option");
  EXPECT_EQ(search(option).library, option);
}

TEST_F(SearchTest, CondaLibraryWithoutPythonPackageIsFound) {
  const fs::path file = library("conda/lib");
  environment_.variables["CONDA_PREFIX"] = at("conda");
  EXPECT_EQ(search().library, file);
}

TEST_F(SearchTest, EmptyVariablesAreNotSet) {
  const fs::path system = library("usr/lib");
  environment_.system_folders = {at("usr/lib")};
  for (const char* name : {"MODELRUN_ONNXRUNTIME", "VIRTUAL_ENV",
                           "CONDA_PREFIX", "LD_LIBRARY_PATH", "PATH"}) {
    environment_.variables[name] = "";
  }
  EXPECT_EQ(search().library, system);
}

TEST_F(SearchTest, EveryPlaceIsRecorded) {
  fs::create_directories(at("venv/lib/python3.11/site-packages"));
  environment_.variables["VIRTUAL_ENV"] = at("venv");
  python_on_path("venv");
  folder_.write("venv/pyvenv.cfg");
  folder_.write("lib/libonnxruntime.so.1.bak");
  folder_.write("lib/libonnxruntime_providers_shared.so");
  environment_.system_folders = {at("lib")};
  const auto missing = search();
  EXPECT_TRUE(missing.library.empty());
  EXPECT_EQ(missing.backend, "onnxruntime");
  EXPECT_EQ(missing.fix, "pip install onnxruntime");
  EXPECT_EQ(
      missing.tried,
      (std::vector<RuntimeAttempt>{
          {"MODELRUN_ONNXRUNTIME", "", "not set"},
          {"VIRTUAL_ENV", at("venv") / kCapi, "no such folder"},
          {"VIRTUAL_ENV", at("venv/lib"), "holds no libonnxruntime.so"},
          {"CONDA_PREFIX", "", "not set"},
          {"python3 on PATH", at("venv") / kCapi, "looked at already"},
          {"system libraries", at("lib"), "holds no libonnxruntime.so"}}));
}

TEST_F(SearchTest, MissingRuntimeIsExplainedInWords) {
  environment_.variables["VIRTUAL_ENV"] = "/v";
  environment_.system_folders = {"/no/lib"};
  EXPECT_EQ(missing_runtime(search()),
            "the runtime of backend 'onnxruntime' was not found; tried\n"
            "  MODELRUN_ONNXRUNTIME: not set\n"
            "  VIRTUAL_ENV: /v: has no lib/python3*/site-packages\n"
            "  VIRTUAL_ENV: /v/lib: no such folder\n"
            "  CONDA_PREFIX: not set\n"
            "  python3 on PATH: no python3 on PATH\n"
            "  system libraries: /no/lib: no such folder\n"
            "add it with 'pip install onnxruntime', or name it with the "
            "option runtime_path or the environment variable "
            "MODELRUN_ONNXRUNTIME");
}

TEST_F(SearchTest, NewestVersionWinsByItsNumbers) {
  library("lib", "1.9.0");
  const fs::path newest = library("lib", "1.32.0");
  library("lib", "1.32");
  folder_.write("lib/libonnxruntime.so");
  fs::create_symlink("libonnxruntime.so.1.9.0", at("lib/libonnxruntime.so.1"));
  EXPECT_EQ(find_library_file(at("lib"), kLibrary).path, newest);
}

TEST_F(SearchTest, LinkCountsAsWhatItPointsTo) {
  folder_.write("real/libonnxruntime.so.1.40.0");
  library("lib", "1.32.0");
  fs::create_symlink(at("real/libonnxruntime.so.1.40.0"),
                     at("lib/libonnxruntime.so.1"));
  EXPECT_EQ(find_library_file(at("lib"), kLibrary).path,
            at("lib/libonnxruntime.so.1"));
}

TEST_F(SearchTest, WhatIsNoFileIsNoLibrary) {
  fs::create_directories(at("lib/libonnxruntime.so.1.0.0"));
  fs::create_symlink("nowhere", at("lib/libonnxruntime.so.2.0.0"));
  EXPECT_EQ(find_library_file(at("lib"), kLibrary).result,
            "holds no libonnxruntime.so");
  folder_.write("file");
  EXPECT_EQ(find_library_file(at("file"), kLibrary).result, "Not a directory");
}

TEST(RuntimeVariable, IsUpperCaseWithoutOtherCharacters) {
  EXPECT_EQ(runtime_variable("onnxruntime"), "MODELRUN_ONNXRUNTIME");
  EXPECT_EQ(runtime_variable("my-backend.2"), "MODELRUN_MY_BACKEND_2");
}

}  // namespace
}  // namespace modelrun
