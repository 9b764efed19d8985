// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/common/tensor_view.h"
#include "backends/onnxruntime/runtime.h"

namespace modelrun::onnxruntime {

/// The caller's memory on one port, as a value of the runtime's.
class Binding {
 public:
  explicit Binding(const Runtime& runtime)
      : runtime_(&runtime), value_(nullptr, runtime.api().ReleaseValue) {}

  /// Does nothing when it is the same memory, shape and dtype as before.
  /// Throws Failure, and then changes nothing, on a tensor that cannot be
  /// bound; `port` is for the message.
  void bind(const DLTensor& tensor, const char* port);
  void clear() noexcept { value_.reset(); }
  /// Copies the elements of another binding here; throws Failure when the
  /// shape or dtype is another.
  void copy_from(const Binding& source, const char* port) const;

  /// NULL when nothing is bound.
  [[nodiscard]] OrtValue* value() const noexcept { return value_.get(); }
  /// Whether `address` lies in the bound memory.
  [[nodiscard]] bool covers(const void* address) const noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                        reinterpret_cast<std::uintptr_t>(view_.data);
    return offset < view_.bytes && value_ != nullptr;
  }
  /// As `"int64[1, 7]"`.
  [[nodiscard]] std::string shown() const { return view_.shown(); }

 private:
  const Runtime* runtime_;
  Handle<OrtValue> value_;
  plugin::TensorView view_;
};

}  // namespace modelrun::onnxruntime
