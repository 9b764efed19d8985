// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/binding.h"

#include <cstring>

#include "backends/onnxruntime/element_type.h"

namespace modelrun::onnxruntime {

void Binding::bind(const DLTensor& tensor, const char* port) {
  if (value_ != nullptr && view_.holds(tensor)) return;
  const auto element = to_onnx(tensor.dtype);
  if (!element) {
    plugin::refuse_tensor(tensor, port, "ONNX has no such element type");
  }
  view_.assign(tensor, port);
  value_.reset();
  OrtValue* value = nullptr;
  runtime_->check(runtime_->api().CreateTensorWithDataAsOrtValue(
                      runtime_->cpu_memory(), view_.data, view_.bytes,
                      view_.dims.data(), view_.dims.size(), *element, &value),
                  port);
  value_.reset(value);
}

void Binding::copy_from(const Binding& source, const char* port) const {
  const bool fits = view_.dims == source.view_.dims &&
                    plugin::is_same_dtype(view_.dtype, source.view_.dtype);
  if (!fits) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "output '" + std::string(port) + "' is bound to " + shown() +
                      ", but is the input of that name, " + source.shown());
  }
  std::memmove(view_.data, source.view_.data, view_.bytes);
}

}  // namespace modelrun::onnxruntime
