// SPDX-License-Identifier: Apache-2.0
// One model of the fake backend under many threads: whatever ThreadSanitizer
// finds here is the library's own.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "modelrun/exported_model.h"
#include "support/fake_export.h"

namespace modelrun::testing {
namespace {

FakeExport adding_export() {
  FakeProgram program;
  program.input({.name = "input_ids", .dtype = "int64", .dims = {-1, -1}})
      .input({.name = "attention_mask", .dtype = "int64", .dims = {-1, -1}})
      .sum({.name = "sum", .dtype = "int64", .dims = {-1, -1}}, "input_ids",
           "attention_mask");
  FakeExport fake;
  fake.add("model", program);
  return fake;
}

Tensor int64s(Shape shape, std::int64_t value) {
  Tensor tensor = Tensor::empty(DType::int64, std::move(shape));
  for (std::int64_t& element : tensor.data<std::int64_t>()) element = value;
  return tensor;
}

TEST(FakeModel, ManyThreadsCallOneModel) {
  const auto fake = adding_export();
  const auto model = fake.load();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 50; ++i) {
        const Outputs outputs =
            model({{"input_ids", int64s({1 + t % 3, 4}, t * 100 + i)},
                   {"attention_mask", int64s({1 + t % 3, 4}, 0)},
                   {"unknown", int64s({1}, 0)}},
                  {.share_outputs = i % 2 == 0});
        if (outputs[0].tensor().data<std::int64_t>()[0] != t * 100 + i) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace modelrun::testing
