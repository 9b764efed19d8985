// SPDX-License-Identifier: Apache-2.0
// What a call of a torch.export archive takes: `torch_call EXPORT COMPONENT
// INPUTS` prints the microseconds of `model(...)` on the tensors of a file, one
// thread, the quickest and the median of 200. benchmarks/torch_call.py runs it
// beside the exported program's module in Python.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "modelrun/modelrun.h"

namespace {

using Clock = std::chrono::steady_clock;

void measure(const std::string& folder, const std::string& component,
             const std::string& inputs) {
  const auto model =
      modelrun::ExportedModel::from_pretrained(folder, {.threads = 1})
          .component(component);
  const modelrun::NamedValues tensors = modelrun::load_tensors(inputs);
  std::vector<modelrun::Kwarg> kwargs;
  for (const auto& [name, value] : tensors) kwargs.push_back({name, value});
  std::vector<double> times;
  for (int call = 0; call < 220; ++call) {
    const auto start = Clock::now();
    const modelrun::Outputs outputs = model(kwargs);
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    if (call >= 20) times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  std::printf("%.1f %.1f\n", times.front(), times[times.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: torch_call EXPORT COMPONENT INPUTS\n");
    return 2;
  }
  try {
    measure(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_call: %s\n", error.what());
    return 1;
  }
  return 0;
}
