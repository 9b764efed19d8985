// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <modelrun/backend.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <openvino/runtime/infer_request.hpp>
#include <string>
#include <vector>

#include "backends/openvino/binding.h"
#include "backends/openvino/cancellation.h"
#include "backends/openvino/session.h"
#include "backends/openvino/state.h"

namespace modelrun::openvino {

/// The bound buffers and the state of calls to one session. One thread at a
/// time, `cancel` apart.
class Request {
 public:
  explicit Request(std::shared_ptr<const Session> session);

  /// `tensor` NULL clears the port, or resets the state.
  void bind(modelrun_port_kind kind, std::size_t index, const DLTensor* tensor);
  void run();
  [[nodiscard]] DLManagedTensorVersioned* fetch(modelrun_port_kind kind,
                                                std::size_t index);
  void cancel() noexcept { cancellation_.cancel(); }

 private:
  struct Delete {
    void operator()(DLManagedTensorVersioned* tensor) const noexcept {
      tensor->deleter(tensor);
    }
  };
  using PassedCopy = std::unique_ptr<DLManagedTensorVersioned, Delete>;

  /// Where the runtime writes an output.
  enum class Target { runtime, caller };

  struct Output {
    Binding binding;
    /// What it returned as it is, while nothing is bound.
    PassedCopy passed;
    Target target = Target::runtime;
    /// Whether the memory that the runtime was given is still what is bound.
    bool is_current = false;
    bool is_fetched = false;
  };

  [[nodiscard]] const modelrun_port& port(modelrun_port_kind kind,
                                          std::size_t index) const;
  void bind_input(std::size_t index, const DLTensor& tensor);
  void bind_output(std::size_t index, const DLTensor* tensor);
  [[nodiscard]] std::map<std::string, ov::VariableState> variables();
  /// Goes on with another program: the one before was damaged.
  void move_to(std::shared_ptr<Program> program);
  /// Locks the program that is run.
  [[nodiscard]] std::unique_lock<std::mutex> begin_run();
  void check_inputs() const;
  void aim_outputs();
  void aim(std::size_t index, Target target);
  [[nodiscard]] bool is_input_memory(const plugin::TensorView& view) const;
  void set_beam_index();
  [[nodiscard]] std::int64_t batch() const;
  void infer();
  void finish_outputs();
  void pass_inputs();
  void pass(std::size_t input, std::size_t output);
  [[noreturn]] void refuse_shape(std::size_t index, const ov::Shape& shape);
  [[nodiscard]] std::string shown_inputs() const;

  std::shared_ptr<const Session> session_;
  std::shared_ptr<Program> program_;
  ov::InferRequest request_;
  std::vector<Binding> inputs_;
  std::vector<Output> outputs_;
  std::vector<State> states_;
  /// The rows that the input `beam_idx` is set for; -1 when it is not.
  std::int64_t beam_size_ = -1;
  bool has_run_ = false;
  Cancellation cancellation_;
};

}  // namespace modelrun::openvino
