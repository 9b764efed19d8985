// SPDX-License-Identifier: Apache-2.0
// What a call costs above the runtime's own: one tiny graph, an Add of float32
// [1, 4], one thread, through ONNX Runtime's C API as its fastest binding has
// it, through `model(...)` and through `bind()`, in one process.
//
// The last lines of the output are the ones that count: microseconds per call
// above the C API.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "modelrun/modelrun.h"
#include "onnxruntime_c_api.h"
#include "overhead.h"

namespace {

using modelrun::ExportedModel;
using modelrun::benchmarks::add_kwargs;
using modelrun::benchmarks::kAddProgram;

// One session of the graph through the C API, its buffers bound once.
class RawSession {
 public:
  RawSession() {
    const auto found = modelrun::find_runtime("onnxruntime");
    void* library = dlopen(found.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(
        dlsym(library, "OrtGetApiBase"))();
    api_ = base->GetApi(ORT_API_VERSION);
    check(api_->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "benchmark", &env_));
    OrtSessionOptions* options = nullptr;
    check(api_->CreateSessionOptions(&options));
    check(api_->SetIntraOpNumThreads(options, 1));
    check(api_->CreateSession(env_, kAddProgram, options, &session_));
    api_->ReleaseSessionOptions(options);
    read_names();
    bind();
  }

  void run() {
    check(api_->Run(session_, nullptr, input_names_.data(), inputs_.data(),
                    inputs_.size(), output_names_.data(), 1, &output_));
  }

 private:
  void check(OrtStatus* status) const {
    if (status != nullptr) fail(api_->GetErrorMessage(status));
  }

  [[noreturn]] static void fail(const char* message) {
    std::fprintf(stderr, "benchmark: %s\n", message);
    std::exit(1);
  }

  void read_names() {
    OrtAllocator* allocator = nullptr;
    check(api_->GetAllocatorWithDefaultOptions(&allocator));
    std::size_t count = 0;
    check(api_->SessionGetInputCount(session_, &count));
    for (std::size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      check(api_->SessionGetInputName(session_, i, allocator, &name));
      input_names_.push_back(name);
    }
    char* name = nullptr;
    check(api_->SessionGetOutputName(session_, 0, allocator, &name));
    output_names_.push_back(name);
  }

  void bind() {
    OrtMemoryInfo* memory = nullptr;
    check(api_->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault,
                                    &memory));
    const std::int64_t shape[] = {1, 4};
    const auto make = [&](float* data) {
      OrtValue* value = nullptr;
      check(api_->CreateTensorWithDataAsOrtValue(
          memory, data, 4 * sizeof(float), shape, 2,
          ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
      return value;
    };
    for (std::size_t i = 0; i < input_names_.size(); ++i) {
      inputs_.push_back(make(data_));
    }
    output_ = make(result_);
  }

  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
  OrtSession* session_ = nullptr;
  std::vector<const char*> input_names_;
  std::vector<const char*> output_names_;
  std::vector<const OrtValue*> inputs_;
  OrtValue* output_ = nullptr;
  float data_[4] = {1, 2, 3, 4};
  float result_[4] = {};
};

ExportedModel& model() {
  static ExportedModel instance =
      ExportedModel::from_pretrained(kAddProgram, {.threads = 1});
  return instance;
}

void raw_c_api(benchmark::State& state) {
  RawSession session;
  for (auto _ : state) session.run();
}

void model_call(benchmark::State& state) {
  const auto arguments = add_kwargs();
  for (auto _ : state) benchmark::DoNotOptimize(model()(arguments));
}

void bound_call(benchmark::State& state) {
  auto bound = model().bind(add_kwargs());
  for (auto _ : state) benchmark::DoNotOptimize(bound());
}

BENCHMARK(raw_c_api);
BENCHMARK(model_call);
BENCHMARK(bound_call);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  RawSession session;
  modelrun::benchmarks::report_overhead(model(), "ONNX Runtime's C API",
                                        [&] { session.run(); });
  benchmark::Shutdown();
  return 0;
}
