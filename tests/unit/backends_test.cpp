// SPDX-License-Identifier: Apache-2.0
#include "modelrun/backends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/registry.h"
#include "modelrun/error.h"
#include "modelrun/log.h"
#include "support/fake_backend.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

using testing::FakeFolder;
using testing::register_fake;

// The registry is one for the process: each test has names of its own.

template <typename Exception, typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no such exception";
}

TEST(Backends, BuiltInOnesAreThereWithoutRegistration) {
  const auto names = registered_backends();
  EXPECT_NE(std::find(names.begin(), names.end(), "onnxruntime"), names.end());
  EXPECT_EQ(default_backend("onnx"), "onnxruntime");
  EXPECT_EQ(backend_formats("onnxruntime"), std::vector<std::string>{"onnx"});
  EXPECT_EQ(default_backend("openvino"), "openvino");
}

TEST(Backends, FormatWithoutARunnerHasNoDefault) {
  EXPECT_EQ(default_backend("no-such-format"), "");
}

TEST(Backends, FirstOfAFormatIsItsDefault) {
  register_fake("first-a", {"format-a"});
  register_fake("first-b", {"format-a", "format-b", "onnx"});
  EXPECT_EQ(default_backend("format-a"), "first-a");
  EXPECT_EQ(default_backend("format-b"), "first-b");
  EXPECT_EQ(default_backend("onnx"), "onnxruntime");
}

TEST(Backends, RegisteringANameAgainReplacesItWithAWarning) {
  std::string line;
  register_fake("again", {"format-c", "format-d"});
  register_fake("other", {"format-c"});
  const auto before = open_backend("again");
  set_log_callback([&](LogLevel level, std::string_view text) {
    line = std::string(name(level)) + ": " + std::string(text);
    // The callback may use the registry.
    (void)registered_backends();
  });
  register_fake("again", {"format-d"});
  set_log_callback(nullptr);
  EXPECT_EQ(line,
            "warning: backend 'again' is registered anew; models that "
            "are loaded keep the one before");
  const auto names = registered_backends();
  EXPECT_EQ(std::count(names.begin(), names.end(), "again"), 1);
  EXPECT_EQ(default_backend("format-c"), "other");
  EXPECT_EQ(default_backend("format-d"), "again");
  EXPECT_NE(open_backend("again"), before);
  EXPECT_EQ(before->name(), "fake");
}

TEST(Backends, RegistrationNeedsANameAndOneOfPluginAndTable) {
  EXPECT_EQ(
      message_of<InvalidArgument>([] {
        register_backend(
            {.name = "", .formats = {}, .plugin = "p.so", .table = nullptr});
      }),
      "a backend cannot be registered without a name");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              register_backend(
                  {.name = "x", .formats = {}, .plugin = {}, .table = nullptr});
            }),
            "backend 'x' cannot be registered: expected either a plugin or a "
            "table, got neither");
  EXPECT_EQ(message_of<InvalidArgument>([] {
              register_backend({.name = "x",
                                .formats = {},
                                .plugin = "p.so",
                                .table = fake::table()});
            }),
            "backend 'x' cannot be registered: expected either a plugin or a "
            "table, got both");
}

TEST(Backends, UnknownNameListsTheRegisteredAndTheNearest) {
  const std::string message =
      message_of<NotFound>([] { (void)open_backend("onnxruntim"); });
  EXPECT_EQ(message.find("no backend 'onnxruntim' is registered, did you mean "
                         "'onnxruntime'?; registered are: 'onnxruntime', "
                         "'openvino'"),
            0U)
      << message;
  EXPECT_THROW((void)find_runtime("no-such-backend"), NotFound);
  EXPECT_THROW((void)backend_formats("no-such-backend"), NotFound);
}

TEST(Backends, OpeningTwiceGivesTheSame) {
  register_fake("twice");
  EXPECT_EQ(open_backend("twice"), open_backend("twice"));
}

TEST(Backends, EachRuntimeIsABackendOfItsOwn) {
  const FakeFolder folder;
  const auto library = folder.write("one.so");
  register_fake("runtimes");
  const auto none = open_backend("runtimes");
  const auto one = open_backend("runtimes", library);
  EXPECT_NE(none, one);
  EXPECT_EQ(one, open_backend("runtimes", library));
  EXPECT_EQ(one->runtime_path(), library);
  EXPECT_EQ(find_runtime("runtimes", library).library, library);
  EXPECT_TRUE(find_runtime("runtimes").tried.empty());
}

TEST(Backends, RuntimeThatIsNamedAndNotThereIsAnError) {
  register_fake("nameless");
  EXPECT_EQ(message_of<NotFound>(
                [] { (void)open_backend("nameless", "/no/one.so"); }),
            "the runtime of backend 'nameless' was not found; tried\n"
            "  option runtime_path: /no/one.so: no such file or folder\n"
            "name it with the option runtime_path or the environment variable "
            "MODELRUN_NAMELESS");
}

TEST(Backends, ManyThreadsOpenOneBackend) {
  register_backend({.name = "threads",
                    .formats = {"fake"},
                    .plugin = MODELRUN_TEST_FAKE_PLUGIN,
                    .table = nullptr});
  std::vector<std::shared_ptr<Backend>> opened(8);
  std::vector<std::thread> threads;
  for (auto& backend : opened) {
    threads.emplace_back([&backend] {
      for (int i = 0; i < 20; ++i) backend = open_backend("threads");
      (void)default_backend("fake");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::set<std::shared_ptr<Backend>> different(opened.begin(),
                                                     opened.end());
  EXPECT_EQ(different.size(), 1U);
  EXPECT_EQ(opened[0]->name(), "fake");
}

TEST(Backends, PluginThatFailsToOpenIsTriedAgain) {
  const FakeFolder folder;
  const auto file = folder.write("modelrun_later.so", "not a library");
  register_backend(
      {.name = "later", .formats = {}, .plugin = file, .table = nullptr});
  EXPECT_THROW((void)open_backend("later"), BackendError);
  std::filesystem::remove(file);
  EXPECT_EQ(message_of<NotFound>([] { (void)open_backend("later"); }),
            "plugin of backend 'later' not found: " + file.string() +
                " is not a file");
  std::filesystem::copy_file(MODELRUN_TEST_FAKE_PLUGIN, file);
  EXPECT_EQ(open_backend("later")->name(), "fake");
}

TEST(Backends, MissingRuntimeIsNotFoundWithTheCommandThatAddsIt) {
  EXPECT_EQ(message_of<NotFound>(
                [] { (void)open_backend("onnxruntime", "/no/where"); }),
            "the runtime of backend 'onnxruntime' was not found; tried\n"
            "  option runtime_path: /no/where: no such file or folder\n"
            "add it with 'pip install onnxruntime', or name it with the "
            "option runtime_path or the environment variable "
            "MODELRUN_ONNXRUNTIME");
}

TEST(Backends, OptionsAreThoseOfTheBackendAlone) {
  register_fake("with-options", {"format-o"});
  EXPECT_TRUE(backend_options("with-options").empty());
  EXPECT_THROW((void)backend_options("no-such-backend"), NotFound);
}

TEST(Backends, PackagesOfThisPythonAreLookedAtBeforeTheActiveOnes) {
  const FakeFolder folder;
  const auto library =
      folder.write("site-packages/onnxruntime/capi/libonnxruntime.so.1.30.0");
  set_python_packages({folder.path() / "site-packages"});
  const RuntimeSearch search = find_runtime("onnxruntime");
  set_python_packages({});
  EXPECT_EQ(search.library, library);
  EXPECT_EQ(search.tried.back().source, "this Python");
  EXPECT_EQ(search.tried.back().result, "found");
}

}  // namespace
}  // namespace modelrun
