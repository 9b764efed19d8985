// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <modelrun/backend.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/executorch/input_slot.h"
#include "backends/executorch/output_slot.h"
#include "backends/executorch/session.h"

namespace modelrun::executorch {

/// The bound buffers of calls to one session, with a method of its own. One
/// thread at a time. Binding the same memory again and running allocate nothing
/// here.
class Request {
 public:
  explicit Request(std::shared_ptr<const Session> session);

  /// `tensor` NULL clears the port.
  void bind(modelrun_port_kind kind, std::size_t index, const DLTensor* tensor);
  void run();
  [[nodiscard]] DLManagedTensorVersioned* fetch(modelrun_port_kind kind,
                                                std::size_t index);

 private:
  [[nodiscard]] const modelrun_port& port(modelrun_port_kind kind,
                                          std::size_t index) const;
  void check_inputs() const;
  void prepare_method(LogCapture& log);
  void run_method(LogCapture& log);
  [[nodiscard]] bool is_in_place(std::size_t input) const noexcept;
  void own_results();
  void drop_results() noexcept;
  [[nodiscard]] bool is_borrowed(const void* data) const noexcept;
  [[nodiscard]] std::string shown_inputs() const;

  std::shared_ptr<const Session> session_;
  std::unique_ptr<LoadedMethod> method_;
  std::vector<InputSlot> inputs_;
  std::vector<OutputSlot> outputs_;
  bool has_run_ = false;
};

}  // namespace modelrun::executorch
