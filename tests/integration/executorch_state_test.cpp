// SPDX-License-Identifier: Apache-2.0
// A program that writes to buffers of its own: each run begins with those that
// it was exported with.
#include <atomic>
#include <thread>

#include "executorch_table.h"

namespace modelrun::executorch_test {
namespace {

using ExecuTorchState = ExecuTorchTest;
using Floats = std::vector<float>;

/// Outputs of `running-total`, by their order: the total before the values were
/// added, the values times the total after, the number of rows.
enum Output : std::size_t { kBefore, kScaled, kRows };

std::size_t output_at(const Call& call, Output output) {
  // Earlier ones are the buffers as they are after the run.
  return call.signature.output_count - 3 + output;
}

void expect_first_run(Call& call, const Floats& row) {
  EXPECT_EQ(values_of<float>(call.fetch(output_at(call, kBefore))),
            Floats(4, 0.0F));
  EXPECT_EQ(values_of<std::int64_t>(call.fetch(output_at(call, kRows))),
            std::vector<std::int64_t>{1});
  Floats squares;
  for (const float value : row) squares.push_back(value * value);
  EXPECT_EQ(values_of<float>(call.fetch(output_at(call, kScaled))), squares);
}

TEST_F(ExecuTorchState, EachRunBeginsWithTheBuffersOfTheExport) {
  Call call(load(program("running-total")));
  Floats row{1, 2, 3, 4};
  Floats others(8, 100.0F);
  for (int repeat = 0; repeat < 3; ++repeat) {
    call.input(0, {row, {1, 4}});
    call.run();
    expect_first_run(call, row);
    call.input(0, {others, {2, 4}});
    call.run();
    EXPECT_EQ(values_of<float>(call.fetch(output_at(call, kScaled))),
              Floats(8, 100.0F * 200.0F));
  }
}

TEST_F(ExecuTorchState, RunThatFailedLeavesNothing) {
  Call call(load(program("running-total")));
  Floats row{1, 2, 3, 4};
  call.input(0, {row, {1, 4}});
  Floats small(1);
  call.output(output_at(call, kScaled), {small, {1, 1}});
  EXPECT_EQ(call.try_run().status, MODELRUN_INVALID_ARGUMENT);
  require_ok(call.try_bind(MODELRUN_OUTPUT, output_at(call, kScaled), nullptr));
  call.run();
  expect_first_run(call, row);
}

TEST_F(ExecuTorchState, ThreadsDoNotSeeEachOthersBuffers) {
  auto* session = load(program("running-total"));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int id = 1; id <= 2; ++id) {
    threads.emplace_back([&, id] {
      Call call(session);
      Floats row(4, static_cast<float>(id));
      call.input(0, {row, {1, 4}});
      const Floats squares(4, static_cast<float>(id * id));
      for (int round = 0; round < 50; ++round) {
        call.run();
        const auto scaled =
            values_of<float>(call.fetch(output_at(call, kScaled)));
        if (scaled != squares) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace modelrun::executorch_test
