// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "modelrun/backend.h"
#include "modelrun/tensor.h"
#include "python.h"

namespace modelrun::python {

/// The signature of a runner that is written in Python, as the table of
/// functions tells it.
class RunnerSignature {
 public:
  /// Reads the runner's `inputs` and `outputs`: (name, dtype, shape) each,
  /// where a size is an integer, a symbol, or None. Throws InvalidArgument.
  explicit RunnerSignature(nb::handle runner);
  RunnerSignature(const RunnerSignature&) = delete;
  RunnerSignature& operator=(const RunnerSignature&) = delete;

  [[nodiscard]] const modelrun_signature& table() const { return signature_; }

 private:
  std::vector<modelrun_port> read_ports(nb::handle ports);
  modelrun_port read_port(nb::handle port);

  // What the ports point to; a deque's elements stay where they are.
  std::deque<std::string> texts_;
  std::deque<std::vector<std::int64_t>> dims_;
  std::deque<std::vector<const char*>> symbols_;
  std::vector<modelrun_port> inputs_;
  std::vector<modelrun_port> outputs_;
  modelrun_signature signature_{};
};

/// The memory that one port is bound to.
struct BoundMemory {
  Tensor view;

  explicit BoundMemory(const DLTensor& tensor);
};

}  // namespace modelrun::python

/// A program that a Python runner has loaded.
struct modelrun_session {
  modelrun::python::nb::object runner;
  modelrun::python::RunnerSignature signature;

  explicit modelrun_session(modelrun::python::nb::object loaded)
      : runner(std::move(loaded)), signature(runner) {}
};

/// One call at a time of a Python runner.
struct modelrun_request {
  explicit modelrun_request(modelrun_session& owner);

  void bind(modelrun_port_kind kind, std::size_t index, const DLTensor* tensor);
  void run();
  [[nodiscard]] DLManagedTensorVersioned* fetch(modelrun_port_kind kind,
                                                std::size_t index) const;

 private:
  void take_outputs(modelrun::python::nb::handle returned);
  void take_output(std::size_t index, modelrun::python::nb::handle array);

  modelrun_session& session;
  std::vector<std::optional<modelrun::python::BoundMemory>> inputs;
  std::vector<std::optional<modelrun::python::BoundMemory>> bound;
  std::vector<modelrun::Tensor> outputs;
};
