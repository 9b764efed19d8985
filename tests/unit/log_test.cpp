// SPDX-License-Identifier: Apache-2.0
#include "modelrun/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace modelrun {
namespace {

using Lines = std::vector<std::pair<LogLevel, std::string>>;

class Log : public ::testing::Test {
 protected:
  ~Log() override { set_log_callback({}); }

  void collect(LogLevel minimum) {
    set_log_callback(
        [this](LogLevel level, std::string_view line) {
          lines_.emplace_back(level, line);
        },
        minimum);
  }

  Lines lines_;
};

void log_one_of_each() {
  log(LogLevel::debug, "d");
  log(LogLevel::info, "i");
  log(LogLevel::warning, "w");
  log(LogLevel::error, "e");
}

TEST_F(Log, LevelsHaveNames) {
  EXPECT_EQ(name(LogLevel::debug), "debug");
  EXPECT_EQ(name(LogLevel::info), "info");
  EXPECT_EQ(name(LogLevel::warning), "warning");
  EXPECT_EQ(name(LogLevel::error), "error");
}

TEST_F(Log, WithoutACallbackNothingIsEnabled) {
  EXPECT_FALSE(log_enabled(LogLevel::debug));
  EXPECT_FALSE(log_enabled(LogLevel::error));
  log_one_of_each();
}

TEST_F(Log, LinesBelowTheMinimumAreDropped) {
  collect(LogLevel::info);
  log_one_of_each();
  EXPECT_EQ(lines_, (Lines{{LogLevel::info, "i"},
                           {LogLevel::warning, "w"},
                           {LogLevel::error, "e"}}));
  EXPECT_FALSE(log_enabled(LogLevel::debug));
  EXPECT_TRUE(log_enabled(LogLevel::info));
}

TEST_F(Log, TheMinimumIsWarningUnlessSaid) {
  int lines = 0;
  set_log_callback([&](LogLevel, std::string_view) { ++lines; });
  log_one_of_each();
  EXPECT_EQ(lines, 2);
}

TEST_F(Log, AnEmptyCallbackSilencesAgain) {
  collect(LogLevel::debug);
  set_log_callback({}, LogLevel::debug);
  log_one_of_each();
  EXPECT_TRUE(lines_.empty());
  EXPECT_FALSE(log_enabled(LogLevel::error));
}

TEST_F(Log, LinesArePassedAsTheyAre) {
  collect(LogLevel::debug);
  const std::string line("a\0b\n%s", 6);
  log(LogLevel::debug, line);
  log(LogLevel::debug, {});
  EXPECT_EQ(lines_, (Lines{{LogLevel::debug, line}, {LogLevel::debug, ""}}));
}

TEST_F(Log, AThrowingCallbackDoesNotReachTheCaller) {
  int calls = 0;
  set_log_callback([&](LogLevel, std::string_view) {
    ++calls;
    throw std::runtime_error("from the callback");
  });
  log(LogLevel::error, "one");
  log(LogLevel::error, "two");
  EXPECT_EQ(calls, 2);
}

TEST_F(Log, ACallbackMayLogAndReplaceItself) {
  std::vector<std::string> lines;
  set_log_callback([&](LogLevel, std::string_view line) {
    lines.emplace_back(line);
    if (line == "first") log(LogLevel::error, "from inside");
    if (line == "from inside") {
      // The callback that is running stays alive until it returns.
      set_log_callback({});
      lines.emplace_back("still here");
    }
  });
  log(LogLevel::error, "first");
  log(LogLevel::error, "after");
  EXPECT_EQ(lines,
            (std::vector<std::string>{"first", "from inside", "still here"}));
}

TEST_F(Log, ACallbackIsCalledFromManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kLines = 200;
  std::atomic<int> received{0};
  const auto count = [&](LogLevel, std::string_view) { ++received; };
  set_log_callback(count, LogLevel::info);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int line = 0; line < kLines; ++line) {
        log(LogLevel::info, "a line");
        // Setting it meanwhile loses nothing.
        if (line % 50 == 0) set_log_callback(count, LogLevel::info);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received, kThreads * kLines);
}

}  // namespace
}  // namespace modelrun
