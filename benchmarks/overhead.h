// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "modelrun/modelrun.h"

namespace modelrun::benchmarks {

/// The one tiny graph that is called, an Add of float32 [1, 4].
constexpr const char* kAddProgram =
    MODELRUN_TEST_MODELS "/graphs/tiny_add.onnx";

/// Its kwargs, the same tensor for each.
inline std::vector<Kwarg> add_kwargs() {
  static const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 4});
  static const auto description = inspect(kAddProgram);
  std::vector<Kwarg> kwargs;
  for (const auto& input : description.components[0].inputs) {
    kwargs.push_back({input.name, x});
  }
  return kwargs;
}

/// Prints how long `model(...)` and `bind()` take above the runtime's own call:
/// the medians of many short rounds, the three taken in turns, so that a noisy
/// machine disturbs all of them alike.
template <typename Raw>
void report_overhead(const ExportedModel& model, const char* runtime,
                     Raw&& raw_call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 400;
  constexpr int kCalls = 250;
  const auto arguments = add_kwargs();
  auto bound = model.bind(arguments);
  const auto measure = [](auto&& call) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    return time.count() / kCalls;
  };
  std::vector<double> raw, model_more, bound_more;
  for (int round = 0; round < kRounds; ++round) {
    raw.push_back(measure(raw_call));
    model_more.push_back(
        measure([&] { benchmark::DoNotOptimize(model(arguments)); }) -
        raw.back());
    bound_more.push_back(measure([&] { benchmark::DoNotOptimize(bound()); }) -
                         raw.back());
  }
  const auto median = [](std::vector<double>& values) {
    const auto middle = values.begin() + kRounds / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  std::printf("%s: %.2f us\n", runtime, median(raw));
  std::printf("model(...) above it: %.2f us (aim: at most 2)\n",
              median(model_more));
  std::printf("bound()    above it: %.2f us (aim: at most 0.5)\n",
              median(bound_more));
}

}  // namespace modelrun::benchmarks
