// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <openvino/runtime/compiled_model.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "backends/openvino/passed_inputs.h"

namespace modelrun::openvino {

using Port = ov::Output<const ov::Node>;

/// One compilation of a model.
///
/// A run that fails may leave shapes of its own in the graph, which all
/// requests share: later runs were seen to give wrong numbers, or to fail
/// (2026.4.1, on a CPU, dynamic shapes). Such a program is not run again; the
/// session compiles another.
struct Program {
  Program(ov::CompiledModel made, std::optional<std::size_t> beam_input,
          const PassedInputs& passed)
      : compiled(std::move(made)), outputs(passed.output_count()) {
    const auto& ports = compiled.inputs();
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (i == beam_input) {
        beam = ports[i];
      } else {
        inputs.push_back(ports[i]);
      }
    }
    for (std::size_t i = 0; i < passed.left().size(); ++i) {
      outputs[passed.left()[i]] = compiled.outputs()[i];
    }
  }

  ov::CompiledModel compiled;
  /// In the signature's order, without the one of `beam_idx`.
  std::vector<Port> inputs;
  /// Those that are passed inputs are no ports.
  std::vector<Port> outputs;
  Port beam;
  /// Held by a run, so that none begins while another fails.
  std::mutex running;
  std::atomic<bool> is_damaged = false;
};

}  // namespace modelrun::openvino
