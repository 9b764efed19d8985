// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backend/library_file.h"
#include "backend/python_environment.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::FakeFolder;
using Paths = std::vector<fs::path>;

class PythonTest : public ::testing::Test {
 protected:
  fs::path program(const std::string& name, const std::string& text =
                                                "\x7f"
                                                "ELF") {
    const fs::path file = folder_.write(name, text);
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  void on_path(const std::string& folders) {
    environment_.variables["PATH"] = folders;
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  fs::path make(const std::string& name) const {
    fs::create_directories(at(name));
    return at(name);
  }

  FakeFolder folder_;
  ProcessEnvironment environment_;
};

TEST(VersionNumbers, AreReadOrRefused) {
  using Numbers = std::vector<unsigned long>;
  EXPECT_EQ(version_numbers("1.32.0"), (Numbers{1, 32, 0}));
  EXPECT_EQ(version_numbers("3"), (Numbers{3}));
  for (const char* bad : {"", ".", "1.", ".1", "1..2", "1.2b", "-1", "a",
                          "99999999999999999999999"}) {
    EXPECT_EQ(version_numbers(bad), Numbers{}) << bad;
  }
}

TEST_F(PythonTest, NoneOnPathSaysSo) {
  on_path(make("bin").string());
  const auto python = find_python(environment_);
  EXPECT_TRUE(python.executable.empty());
  EXPECT_EQ(python.problem, "no python3 on PATH");
}

TEST_F(PythonTest, LinkOnPathLeadsToTheRealPrefix) {
  program("opt/py/bin/python3.12");
  make("bin");
  fs::create_symlink(at("opt/py/bin/python3.12"), at("bin/python3"));
  on_path(at("bin").string());
  EXPECT_EQ(find_python(environment_).prefix, at("opt/py"));
}

TEST_F(PythonTest, VirtualEnvironmentIsNotFollowedToItsBase) {
  program("opt/py/bin/python3.12");
  make("venv/bin");
  folder_.write("venv/pyvenv.cfg", "home = x\n");
  fs::create_symlink(at("opt/py/bin/python3.12"), at("venv/bin/python3"));
  on_path(at("venv/bin").string());
  EXPECT_EQ(find_python(environment_).prefix, at("venv"));
}

TEST_F(PythonTest, Python3ComesBeforeAnyPython) {
  program("one/bin/python");
  program("two/bin/python3");
  on_path(at("one/bin").string() + ":" + at("two/bin").string());
  EXPECT_EQ(find_python(environment_).prefix, at("two"));
  fs::remove(at("two/bin/python3"));
  EXPECT_EQ(find_python(environment_).prefix, at("one"));
}

TEST_F(PythonTest, FileThatCannotRunIsPassedOver) {
  folder_.write("one/bin/python3",
                "\x7f"
                "ELF");
  make("two/bin/python3");
  program("three/bin/python3");
  on_path(at("one/bin").string() + ":" + at("two/bin").string() +
          "::" + at("three/bin").string());
  EXPECT_EQ(find_python(environment_).prefix, at("three"));
}

TEST_F(PythonTest, ScriptIsToldApart) {
  const fs::path script = program("bin/python3", "#!/bin/sh\nexec other\n");
  on_path(at("bin").string());
  const auto python = find_python(environment_);
  EXPECT_EQ(python.executable, script);
  EXPECT_TRUE(python.prefix.empty());
  EXPECT_EQ(python.problem, "a script, not an interpreter");
}

class PyenvTest : public PythonTest {
 protected:
  PyenvTest() {
    program("pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec\n");
    for (const char* version : {"3.9.18", "3.11.7", "3.11.12"}) {
      make(std::string("pyenv/versions/") + version);
    }
    program("usr/bin/python3");
    environment_.working_directory = make("work/deep");
    on_path(at("pyenv/shims").string() + ":" + at("usr/bin").string());
  }
  fs::path version(const std::string& name) const {
    return at("pyenv/versions/" + name);
  }
};

TEST_F(PyenvTest, ShimFollowsTheGlobalVersion) {
  folder_.write("pyenv/version", "3.9.18\n");
  EXPECT_EQ(find_python(environment_).prefix, version("3.9.18"));
}

TEST_F(PyenvTest, ShimFollowsTheNearestLocalVersion) {
  folder_.write("pyenv/version", "3.9.18\n");
  folder_.write("work/.python-version", "3.11.7\n");
  EXPECT_EQ(find_python(environment_).prefix, version("3.11.7"));
}

TEST_F(PyenvTest, ShimFollowsTheVariableFirst) {
  folder_.write("work/.python-version", "3.11.7\n");
  environment_.variables["PYENV_VERSION"] = "3.9.18:3.11.7";
  EXPECT_EQ(find_python(environment_).prefix, version("3.9.18"));
}

TEST_F(PyenvTest, ShortVersionMeansTheNewestOfIt) {
  folder_.write("pyenv/version", "3.11\n");
  EXPECT_EQ(find_python(environment_).prefix, version("3.11.12"));
}

TEST_F(PyenvTest, SystemVersionIsTheNextOnPath) {
  folder_.write("pyenv/version", "system\n");
  EXPECT_EQ(find_python(environment_).prefix, at("usr"));
  fs::remove(at("pyenv/version"));
  EXPECT_EQ(find_python(environment_).prefix, at("usr"));
}

TEST_F(PyenvTest, VersionThatIsNotThereIsAProblem) {
  for (const char* name : {"3.8", "../../usr", ".."}) {
    folder_.write("pyenv/version", name);
    const auto python = find_python(environment_);
    EXPECT_TRUE(python.prefix.empty());
    EXPECT_EQ(python.problem, "a pyenv shim for version '" + std::string(name) +
                                  "', which is not installed");
  }
}

TEST_F(PythonTest, PackageFoldersAreFoundNewestFirst) {
  const fs::path prefix = make("p");
  const Paths wanted = {
      make("p/lib/python3.12/site-packages"),
      make("p/lib/python3.9/site-packages"),
      make("p/lib/python3/dist-packages"),
      make("p/lib64/python3.12/site-packages"),
  };
  make("p/lib/python3.13");
  make("p/lib/pythonic/site-packages");
  EXPECT_EQ(package_folders(prefix), wanted);
  EXPECT_EQ(package_folders(at("none")), Paths{});
}

TEST_F(PythonTest, PackageFolderBehindALinkCountsOnce) {
  const fs::path folder = make("p/lib/python3.12/site-packages");
  fs::create_symlink("lib", at("p/lib64"));
  EXPECT_EQ(package_folders(at("p")), (Paths{folder}));
}

TEST_F(PythonTest, PackagesOfTheBaseCountOnlyWhenIncluded) {
  const fs::path base = make("base/lib/python3.11/site-packages");
  const fs::path own = make("venv/lib/python3.11/site-packages");
  const std::string home = "home = " + make("base/bin").string() + "\n";
  folder_.write("venv/pyvenv.cfg",
                home + "include-system-site-packages = false\n");
  EXPECT_EQ(package_folders(at("venv")), (Paths{own}));
  folder_.write("venv/pyvenv.cfg",
                home + "include-system-site-packages = true\n");
  EXPECT_EQ(package_folders(at("venv")), (Paths{own, base}));
}

}  // namespace
}  // namespace modelrun
