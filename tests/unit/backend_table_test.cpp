// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backends/fake/fake_backend.h"
#include "modelrun/error.h"
#include "modelrun/log.h"

namespace modelrun {
namespace {

std::string refusal(const modelrun_backend_table& table) {
  try {
    (void)Backend::create(&table, nullptr, {});
  } catch (const BackendError& error) {
    return error.what();
  }
  return "accepted";
}

/// A copy on the heap, where no file is known for it.
std::unique_ptr<modelrun_backend_table> copy_of_fake() {
  return std::make_unique<modelrun_backend_table>(*fake::table());
}

TEST(BackendTable, WhenWholeOpensTheBackend) {
  const auto backend = Backend::create(fake::table(), nullptr, "/opt/lib.so");
  EXPECT_EQ(backend->name(), "fake");
  EXPECT_EQ(backend->runtime_path(), "/opt/lib.so");
  const auto json = nlohmann::json::parse(backend->describe());
  EXPECT_EQ(json["runtime"], "fake");
  EXPECT_EQ(json["runtime_path"], "/opt/lib.so");
}

TEST(BackendTable, WithoutARuntimeGivesThePluginNone) {
  const auto backend = Backend::create(fake::table(), nullptr, {});
  const auto json = nlohmann::json::parse(backend->describe());
  EXPECT_EQ(json["runtime_path"], "");
}

TEST(BackendTable, WhenNullIsRefused) {
  EXPECT_THROW((void)Backend::create(nullptr, nullptr, {}), BackendError);
}

TEST(BackendTable, OfAnotherAbiIsRefusedWithBothNumbers) {
  auto table = copy_of_fake();
  table->abi = 7;
  EXPECT_EQ(refusal(*table),
            "backend table in this process: expected backend ABI 1, got 7; "
            "use the plugin that was built with this library");
}

TEST(BackendTable, OfAnotherAbiIsNamedEvenWhenItIsShorter) {
  auto table = copy_of_fake();
  table->abi = 7;
  table->struct_size = 24;
  EXPECT_NE(refusal(*table).find("got 7"), std::string::npos);
}

TEST(BackendTable, ThatIsTooSmallIsRefusedWithBothSizes) {
  auto table = copy_of_fake();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{8}, sizeof(modelrun_backend_table) - 8}) {
    table->struct_size = size;
    EXPECT_EQ(refusal(*table),
              "backend table in this process: expected a table of " +
                  std::to_string(sizeof(modelrun_backend_table)) +
                  " bytes, got " + std::to_string(size));
  }
}

TEST(BackendTable, ThatIsLongerIsTaken) {
  auto table = copy_of_fake();
  table->struct_size += 64;
  EXPECT_EQ(refusal(*table), "accepted");
}

TEST(BackendTable, WithoutANameIsRefused) {
  auto table = copy_of_fake();
  table->name = nullptr;
  EXPECT_EQ(refusal(*table),
            "backend table in this process: the table has no name or version");
}

TEST(BackendTable, WithAnyFunctionMissingIsRefused) {
  // The functions are the table's tail, all of one pointer's size.
  constexpr std::size_t kFirst =
      offsetof(modelrun_backend_table, backend_create);
  std::size_t seen = 0;
  for (std::size_t at = kFirst; at < sizeof(modelrun_backend_table);
       at += sizeof(void*), ++seen) {
    auto table = copy_of_fake();
    void* const none = nullptr;
    std::memcpy(reinterpret_cast<char*>(table.get()) + at, &none, sizeof none);
    EXPECT_EQ(refusal(*table),
              "backend table in this process: the table of backend 'fake' "
              "lacks a function; all are required");
  }
  EXPECT_EQ(seen, 12U);
}

TEST(BackendTable, OfAPluginIsNamedByItsFile) {
  static modelrun_backend_table table = *fake::table();
  table.abi = 2;
  const std::string message = refusal(table);
  EXPECT_EQ(message.find("plugin "), 0U) << message;
  EXPECT_NE(message.find(": expected backend ABI 1, got 2"), std::string::npos);
}

TEST(BackendTable, WhoseBackendFailsGivesItsWordsAndKind) {
  auto table = copy_of_fake();
  table->backend_create = [](const modelrun_host*, modelrun_backend** backend,
                             const modelrun_sink* error) {
    // Left behind by the failed call; it must not be used.
    *backend = reinterpret_cast<modelrun_backend*>(8);
    error->write(error->context, "no such thing!", 13);
    return MODELRUN_NOT_FOUND;
  };
  try {
    (void)Backend::create(table.get(), nullptr, {});
    FAIL();
  } catch (const NotFound& error) {
    EXPECT_STREQ(error.what(), "no such thing");
  }
}

TEST(BackendTable, WhoseBackendFailsInSilenceSaysWhatFailed) {
  auto table = copy_of_fake();
  table->backend_create = [](const modelrun_host*, modelrun_backend**,
                             const modelrun_sink*) {
    return static_cast<modelrun_status>(7);
  };
  EXPECT_EQ(refusal(*table),
            "backend 'fake' failed in backend_create with status 7 and no "
            "message");
}

TEST(BackendTable, WhoseBackendIsNullIsRefused) {
  auto table = copy_of_fake();
  table->backend_create = [](const modelrun_host*, modelrun_backend** backend,
                             const modelrun_sink*) {
    *backend = nullptr;
    return MODELRUN_OK;
  };
  EXPECT_EQ(refusal(*table), "backend 'fake' said ok and made no backend");
}

TEST(BackendTable, LogsThroughTheLibrary) {
  static std::mutex mutex;
  static std::vector<std::string> lines;
  set_log_callback(
      [](LogLevel level, std::string_view line) {
        const std::lock_guard lock(mutex);
        lines.push_back(std::string(name(level)) + ": " + std::string(line));
      },
      LogLevel::debug);
  (void)Backend::create(fake::table(), nullptr, {});
  set_log_callback(nullptr);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "debug: fake backend opened");
}

}  // namespace
}  // namespace modelrun
