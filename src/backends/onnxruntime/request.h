// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <modelrun/backend.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/onnxruntime/binding.h"
#include "backends/onnxruntime/cancellation.h"
#include "backends/onnxruntime/session.h"

namespace modelrun::onnxruntime {

/// The bound buffers of calls to one session, and what the last run returned.
/// One thread at a time, `cancel` apart. Binding the same memory again and
/// running allocate nothing here.
class Request {
 public:
  explicit Request(std::shared_ptr<const Session> session);

  /// `tensor` NULL clears the port.
  void bind(modelrun_port_kind kind, std::size_t index, const DLTensor* tensor);
  void run();
  [[nodiscard]] DLManagedTensorVersioned* fetch(modelrun_port_kind kind,
                                                std::size_t index);
  void cancel() noexcept { cancellation_.cancel(); }

 private:
  /// What the run left on an output that is not bound.
  struct Output {
    Binding binding;
    Handle<OrtValue> result;
  };

  [[nodiscard]] const modelrun_port& port(modelrun_port_kind kind,
                                          std::size_t index) const;
  void check_inputs() const;
  void run_session();
  void keep_results();
  void own_results();
  void drop_results() noexcept;
  [[nodiscard]] bool is_borrowed(const void* data) const noexcept;
  [[nodiscard]] Handle<OrtValue> copied(const OrtValue* value,
                                        void* data) const;
  [[nodiscard]] std::string shown_inputs() const;

  std::shared_ptr<const Session> session_;
  const Runtime& runtime_;
  Cancellation cancellation_;
  std::vector<Binding> inputs_;
  std::vector<Output> outputs_;
  /// The arrays that the runtime takes.
  std::vector<const OrtValue*> input_values_;
  std::vector<OrtValue*> output_values_;
  bool has_run_ = false;
};

}  // namespace modelrun::onnxruntime
