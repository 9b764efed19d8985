// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <openvino/runtime/tensor.hpp>

#include "backends/common/tensor_view.h"

namespace modelrun::openvino {

/// The caller's memory on one port, as a tensor of the runtime's.
class Binding {
 public:
  /// Returns whether it is other memory, or another shape, than before. Throws
  /// Failure, and then changes nothing, on a tensor that does not fit the port.
  bool bind(const DLTensor& tensor, const modelrun_port& port);
  void clear() noexcept { is_bound_ = false; }

  [[nodiscard]] bool is_bound() const noexcept { return is_bound_; }
  [[nodiscard]] const plugin::TensorView& view() const noexcept {
    return view_;
  }
  [[nodiscard]] const ov::Tensor& tensor() const noexcept { return tensor_; }
  /// The runtime gives an output that is larger than the result another shape;
  /// this makes a tensor anew, and forgets the memory.
  void forget() noexcept;

 private:
  plugin::TensorView view_;
  ov::Tensor tensor_;
  bool is_bound_ = false;
};

}  // namespace modelrun::openvino
