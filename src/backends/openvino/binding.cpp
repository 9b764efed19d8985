// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/binding.h"

#include <utility>

#include "backends/openvino/element_type.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/signature.h"

namespace modelrun::openvino {

bool Binding::bind(const DLTensor& tensor, const modelrun_port& port) {
  if (view_.holds(tensor)) {
    is_bound_ = true;
    return false;
  }
  plugin::TensorView view = plugin::checked_view(tensor, port.name);
  check_fits(port, tensor);
  tensor_ =
      call(MODELRUN_INVALID_ARGUMENT,
           "binding " + view.shown() + " to '" + port.name + "'", [&] {
             return ov::Tensor(*to_openvino(view.dtype),
                               ov::Shape(view.dims.begin(), view.dims.end()),
                               view.data);
           });
  view_ = std::move(view);
  is_bound_ = true;
  return true;
}

void Binding::forget() noexcept {
  is_bound_ = false;
  view_.data = nullptr;
}

}  // namespace modelrun::openvino
