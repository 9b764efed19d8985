// SPDX-License-Identifier: Apache-2.0
// What a call costs above OpenVINO's own: an Add of float32 [1, 4], one thread,
// through an InferRequest whose tensors are set once, through `model(...)` and
// through `bind()`, in one process.
//
// The last lines of the output are the ones that count.
#include <openvino/openvino.hpp>

#include "overhead.h"

namespace {

using modelrun::ExportedModel;
using modelrun::benchmarks::kAddProgram;

// The program through the C++ API, compiled as the plugin compiles it: one
// thread is the caller's own, without a stream.
ov::InferRequest raw_request(ov::Core& core) {
  auto compiled = core.compile_model(
      kAddProgram, "CPU",
      ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
      ov::hint::inference_precision(ov::element::f32),
      ov::inference_num_threads(1), ov::num_streams(0));
  auto request = compiled.create_infer_request();
  for (const auto& input : compiled.inputs()) {
    request.set_tensor(input, ov::Tensor(ov::element::f32, {1, 4}));
  }
  request.set_tensor(compiled.output(), ov::Tensor(ov::element::f32, {1, 4}));
  return request;
}

}  // namespace

int main() {
  const auto model = ExportedModel::from_pretrained(
      kAddProgram, {.backend = "openvino", .threads = 1});
  ov::Core core;
  ov::InferRequest request = raw_request(core);
  modelrun::benchmarks::report_overhead(model, "OpenVINO's InferRequest",
                                        [&] { request.infer(); });
  return 0;
}
