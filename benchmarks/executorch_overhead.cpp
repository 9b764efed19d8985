// SPDX-License-Identifier: Apache-2.0
// What a call costs above ExecuTorch's own: an Add of float32 [1, 4], one
// thread, through the runtime's Method, through `model(...)` and through
// `bind()`, in one process.
//
// The last two lines of the output are the ones that count: microseconds per
// call above the Method.
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "modelrun/modelrun.h"

namespace {

namespace et = ::executorch::runtime;
namespace extension = ::executorch::extension;
namespace aten = ::executorch::aten;

using modelrun::ExportedModel;
using modelrun::Tensor;

constexpr const char* kExport = MODELRUN_TEST_MODELS "/tiny-add/executorch";
constexpr const char* kProgram =
    MODELRUN_TEST_MODELS "/tiny-add/executorch/model.pte";

template <typename T>
T taken(et::Result<T> result) {
  if (result.ok()) return std::move(result.get());
  std::fprintf(stderr, "benchmark: error %u\n",
               static_cast<unsigned>(result.error()));
  std::exit(1);
}

// The program's method through the runtime's own classes. The kernels must be
// registered already: a model that is loaded before does it.
class RawMethod {
 public:
  RawMethod()
      : loader_(taken(extension::MmapDataLoader::from(kProgram))),
        program_(taken(et::Program::load(&loader_))) {
    const auto meta = taken(program_.method_meta("forward"));
    for (std::size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      const auto size = taken(meta.memory_planned_buffer_size(i));
      buffers_.emplace_back(static_cast<std::size_t>(size));
      spans_.emplace_back(buffers_.back().data(), buffers_.back().size());
    }
    planned_.emplace(
        et::Span<et::Span<std::uint8_t>>(spans_.data(), spans_.size()));
    memory_.emplace(&structures_, &*planned_, &scratch_);
    method_.emplace(taken(program_.load_method("forward", &*memory_)));
  }

  void run() {
    for (std::size_t i = 0; i < 2; ++i) {
      check(method_->set_input(et::EValue(aten::Tensor(&tensor_)), i));
    }
    check(method_->execute());
  }

 private:
  static void check(et::Error error) {
    if (error == et::Error::Ok) return;
    std::fprintf(stderr, "benchmark: error %u\n", static_cast<unsigned>(error));
    std::exit(1);
  }

  extension::MmapDataLoader loader_;
  et::Program program_;
  extension::MallocMemoryAllocator structures_;
  extension::MallocMemoryAllocator scratch_;
  std::vector<std::vector<std::uint8_t>> buffers_;
  std::vector<et::Span<std::uint8_t>> spans_;
  std::optional<et::HierarchicalAllocator> planned_;
  std::optional<et::MemoryManager> memory_;
  std::optional<et::Method> method_;
  float data_[4] = {1, 2, 3, 4};
  std::int32_t sizes_[2] = {1, 4};
  std::uint8_t order_[2] = {0, 1};
  std::int32_t strides_[2] = {4, 1};
  aten::TensorImpl tensor_{
      aten::ScalarType::Float, 2, sizes_, data_, order_, strides_};
};

// Microseconds per call of each, the median of many short rounds that take
// turns, so that a noisy machine disturbs all of them alike.
struct Medians {
  double raw = 0;
  double model = 0;
  double bound = 0;
};

template <typename Raw, typename Model, typename Bound>
Medians measure(Raw&& raw, Model&& model, Bound&& bound) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kRounds = 400;
  constexpr int kCalls = 250;
  const auto round = [](auto&& call) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    return time.count() / kCalls;
  };
  std::vector<double> times[3];
  for (std::size_t i = 0; i < kRounds; ++i) {
    times[0].push_back(round(raw));
    times[1].push_back(round(model));
    times[2].push_back(round(bound));
  }
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + kRounds / 2,
                     values.end());
    return values[kRounds / 2];
  };
  return {median(times[0]), median(times[1]), median(times[2])};
}

}  // namespace

int main() {
  const auto model = ExportedModel::from_pretrained(kExport, {.threads = 1});
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 4});
  const std::vector<modelrun::Kwarg> kwargs{{"a", x}, {"b", x}};
  auto bound = model.bind(kwargs);
  RawMethod method;
  const Medians medians =
      measure([&] { method.run(); }, [&] { static_cast<void>(model(kwargs)); },
              [&] { static_cast<void>(bound()); });
  std::printf("Method alone: %.2f us\n", medians.raw);
  std::printf("model(...) above it: %.2f us (aim: at most 2)\n",
              medians.model - medians.raw);
  std::printf("bound()    above it: %.2f us (aim: at most 0.5)\n",
              medians.bound - medians.raw);
  return 0;
}
