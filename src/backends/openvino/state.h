// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>
#include <modelrun/backend.h>

#include <cstddef>
#include <cstdint>
#include <openvino/runtime/variable_state.hpp>
#include <optional>

namespace modelrun::openvino {

/// One variable of a request, kept from one run to the next.
class State {
 public:
  /// `batch_axis`: the axis of its rows, for a variable that has one.
  /// `is_narrowed`: its values must fit int32.
  State(ov::VariableState variable, const modelrun_port& port,
        std::optional<std::size_t> batch_axis, bool is_narrowed)
      : variable_(std::move(variable)),
        port_(&port),
        batch_axis_(batch_axis),
        is_narrowed_(is_narrowed) {}

  /// Goes on as the variable of another request, with what it holds.
  void move_to(ov::VariableState variable);
  /// Copies the tensor in; throws Failure when it does not fit.
  void set(const DLTensor& tensor);
  void reset();
  /// A copy; throws Failure when there is none since the last reset.
  [[nodiscard]] DLManagedTensorVersioned* fetch() const;

  /// The rows that it holds; nothing when it is reset or has no such axis.
  [[nodiscard]] std::optional<std::int64_t> batch() const noexcept {
    return batch_;
  }
  /// After a run of so many rows it holds as many.
  void keep(std::int64_t batch) noexcept {
    is_set_ = true;
    if (batch_axis_) batch_ = batch;
  }
  [[nodiscard]] const char* name() const noexcept { return port_->name; }

 private:
  ov::VariableState variable_;
  const modelrun_port* port_;
  std::optional<std::size_t> batch_axis_;
  bool is_narrowed_;
  std::optional<std::int64_t> batch_;
  bool is_set_ = false;
};

}  // namespace modelrun::openvino
