// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "backend/backend.h"
#include "backend/plugin_file.h"
#include "modelrun/error.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::FakeFolder;

/// The plugin search reads one variable of the process.
class PluginPath {
 public:
  explicit PluginPath(const fs::path& folder) {
    setenv("MODELRUN_PLUGIN_PATH", folder.c_str(), 1);
  }
  ~PluginPath() { unsetenv("MODELRUN_PLUGIN_PATH"); }
};

/// The file that the library's own code is in.
fs::path own_library() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&find_plugin), &info);
  return fs::canonical(info.dli_fname);
}

TEST(OpenPlugin, GivesTheTable) {
  const OpenedPlugin plugin = open_plugin(MODELRUN_TEST_FAKE_PLUGIN);
  ASSERT_NE(plugin.table, nullptr);
  EXPECT_EQ(Backend::create(plugin.table, plugin.library, {})->name(), "fake");
}

TEST(OpenPlugin, KeepsItsSymbolsToItself) {
  (void)open_plugin(MODELRUN_TEST_FAKE_PLUGIN);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, MODELRUN_BACKEND_ENTRY), nullptr);
}

TEST(OpenPlugin, OfAnotherAbiIsRefusedByItsFile) {
  const OpenedPlugin plugin = open_plugin(MODELRUN_TEST_STALE_PLUGIN);
  try {
    (void)Backend::create(plugin.table, plugin.library, {});
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_EQ(error.what(),
              std::string("plugin " MODELRUN_TEST_STALE_PLUGIN
                          ": expected backend ABI 1, got 2; use the plugin "
                          "that was built with this library"));
  }
}

TEST(OpenPlugin, OfAFileThatIsNoLibraryGivesTheLinkersWords) {
  const FakeFolder folder;
  const fs::path file = folder.write("modelrun_text.so", "only text, no ELF");
  try {
    (void)open_plugin(file);
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_EQ(error.what(), "plugin " + file.string() + " cannot be opened: " +
                                file.string() + ": file too short");
  }
}

TEST(OpenPlugin, OfALibraryThatIsNoPluginNamesTheSymbol) {
  const std::string file = own_library().string();
  try {
    (void)open_plugin(file);
    FAIL();
  } catch (const BackendError& error) {
    // The loader names the file as it was opened first, by its SONAME.
    const std::string message = error.what();
    EXPECT_TRUE(
        message.starts_with("plugin " + file +
                            " is not a modelrun plugin: expected the symbol "
                            "modelrun_backend_entry_v1, got "))
        << message;
    EXPECT_TRUE(
        message.ends_with(": undefined symbol: modelrun_backend_entry_v1"))
        << message;
  }
}

TEST(FindPlugin, WithAFolderTakesThePathAsItIs) {
  const FakeFolder folder;
  const fs::path file = folder.write("a/p.so");
  EXPECT_EQ(find_plugin(file, "b"), file);
}

TEST(FindPlugin, WithAFolderThatLacksItSaysSo) {
  try {
    (void)find_plugin("/no/p.so", "b");
    FAIL();
  } catch (const NotFound& error) {
    EXPECT_STREQ(error.what(),
                 "plugin of backend 'b' not found: /no/p.so is not a file");
  }
}

TEST(FindPlugin, LooksInTheNamedFolderFirst) {
  const FakeFolder folder;
  const fs::path file = folder.write("p.so");
  const PluginPath path(folder.path());
  EXPECT_EQ(find_plugin("p.so", "b"), file);
}

TEST(FindPlugin, ThatFindsNoneListsTheFolders) {
  const FakeFolder folder;
  const PluginPath path(folder.path());
  const fs::path own = own_library().parent_path();
  try {
    (void)find_plugin("modelrun_none.so", "none");
    FAIL();
  } catch (const NotFound& error) {
    EXPECT_EQ(error.what(),
              "plugin of backend 'none' not found: no modelrun_none.so in " +
                  folder.path().string() + ", " + (own / "modelrun").string() +
                  "; name its folder with the environment variable "
                  "MODELRUN_PLUGIN_PATH");
  }
}

RuntimeSearch runtime_of(const std::string& version) {
  RuntimeSearch runtime;
  runtime.backend = "x";
  runtime.library = "/lib/libx.so";
  runtime.version = version;
  runtime.fix = "pip install x==2.15";
  return runtime;
}

TEST(FindReleasePlugin, TakesTheOneOfTheRuntimesRelease) {
  const FakeFolder folder;
  const PluginPath path(folder.path());
  const fs::path old = folder.write("modelrun_x-2.1.so");
  const fs::path file = folder.write("modelrun_x-2.15.so");
  for (const char* version : {"2.15", "2.15.0", "2.15.1"}) {
    EXPECT_EQ(find_release_plugin("modelrun_x.so", "x", runtime_of(version)),
              file);
  }
  EXPECT_EQ(find_release_plugin("modelrun_x.so", "x", runtime_of("2.1.3")),
            old);
}

TEST(FindReleasePlugin, OfAnotherReleaseNamesBothAndTheFix) {
  const FakeFolder folder;
  const PluginPath path(folder.path());
  folder.write("modelrun_x-2.15.so");
  for (const char* version : {"2.16.0", "2.1", "2.150", ""}) {
    const std::string release =
        *version == '\0' ? "not told by its file name or package" : version;
    try {
      (void)find_release_plugin("modelrun_x.so", "x", runtime_of(version));
      FAIL() << version;
    } catch (const NotFound& error) {
      EXPECT_EQ(error.what(),
                "no plugin of backend 'x' fits its runtime at /lib/libx.so: "
                "the runtime's release is " +
                    release +
                    ", the plugins are built for 2.15; add the runtime that "
                    "fits with 'pip install x==2.15'");
    }
  }
}

TEST(FindReleasePlugin, WithoutAnyListsTheFolders) {
  const FakeFolder folder;
  const PluginPath path(folder.path());
  folder.write("modelrun_x.so");
  folder.write("modelrun_xy-2.15.so");
  try {
    (void)find_release_plugin("modelrun_x.so", "x", runtime_of("2.15"));
    FAIL();
  } catch (const NotFound& error) {
    EXPECT_EQ(std::string(error.what())
                  .find("plugin of backend 'x' not found: no "
                        "modelrun_x-<release>.so in " +
                        folder.path().string() + ", "),
              0U)
        << error.what();
  }
}

}  // namespace
}  // namespace modelrun
