// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <modelrun/backend.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "backends/common/tensor_view.h"
#include "backends/torch/interpreter.h"
#include "backends/torch/session.h"

namespace modelrun::torch {

/// The bound buffers of calls to one session, and what the last run returned.
/// A buffer of the program that its graph changes has the export's value when
/// a run begins: no call sees what another left there. One thread at a time,
/// `cancel` apart.
class Request {
 public:
  explicit Request(std::shared_ptr<const Session> session);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// `tensor` NULL clears the port.
  void bind(modelrun_port_kind kind, std::size_t index, const DLTensor* tensor);
  void run();
  [[nodiscard]] DLManagedTensorVersioned* fetch(modelrun_port_kind kind,
                                                std::size_t index);
  void cancel() noexcept;

 private:
  struct Output {
    plugin::TensorView view;
    at::Tensor bound;
    at::Tensor result;
  };

  [[nodiscard]] const modelrun_port& port(modelrun_port_kind kind,
                                          std::size_t index) const;
  void set_written_weights();
  void bind_input(std::size_t index, const DLTensor& tensor);
  void bind_output(std::size_t index, const DLTensor& tensor);
  void check_bound();
  void clear_values();
  void set_inputs();
  void run_graph();
  void run_compiled();
  void take_results();
  void own_results();

  std::shared_ptr<const Session> session_;
  const Program& program_;
  std::vector<plugin::TensorView> input_views_;
  std::vector<at::Tensor> inputs_;
  std::vector<Output> outputs_;
  /// One a slot; weights stay in theirs from run to run.
  std::vector<c10::IValue> values_;
  /// The slots of what a run takes and returns, weights apart.
  std::vector<std::size_t> let_go_;
  ProtectedMemory protected_;
  std::atomic<RunState> state_{RunState::idle};
  Interpreter interpreter_;
  /// Whether the inputs' sizes are as they were when last checked.
  bool is_checked_ = false;
  bool has_run_ = false;
};

}  // namespace modelrun::torch
