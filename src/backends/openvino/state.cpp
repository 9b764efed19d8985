// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/state.h"

#include <cstring>
#include <string>

#include "backends/common/tensor_view.h"
#include "backends/openvino/element_type.h"
#include "backends/openvino/narrow_integers.h"
#include "backends/openvino/result.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/signature.h"

namespace modelrun::openvino {

void State::set(const DLTensor& tensor) {
  const plugin::TensorView view = plugin::checked_view(tensor, port_->name);
  check_fits(*port_, tensor);
  if (is_narrowed_) check_narrow(view, port_->name);
  call(
      MODELRUN_INVALID_ARGUMENT,
      "setting the state '" + std::string(port_->name) + "' to " + view.shown(),
      [&] {
        // Some devices keep the tensor that they are given.
        ov::Tensor copy(*to_openvino(view.dtype),
                        ov::Shape(view.dims.begin(), view.dims.end()));
        std::memcpy(copy.data(), view.data, view.bytes);
        variable_.set_state(copy);
      });
  is_set_ = true;
  if (batch_axis_ && *batch_axis_ < view.dims.size()) {
    batch_ = view.dims[*batch_axis_];
  }
}

void State::move_to(ov::VariableState variable) {
  if (is_set_) {
    const ov::Tensor held = variable_.get_state();
    ov::Tensor copy(held.get_element_type(), held.get_shape());
    held.copy_to(copy);
    variable.set_state(copy);
  }
  variable_ = std::move(variable);
}

void State::reset() {
  call(MODELRUN_BACKEND_ERROR, "resetting a state", [&] { variable_.reset(); });
  is_set_ = false;
  batch_.reset();
}

DLManagedTensorVersioned* State::fetch() const {
  if (!is_set_) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot fetch the state '" + std::string(port_->name) +
                      "': there was no run since it was reset");
  }
  return call(MODELRUN_BACKEND_ERROR, "reading a state", [&] {
    return copied_result(variable_.get_state(), port_->name);
  });
}

}  // namespace modelrun::openvino
