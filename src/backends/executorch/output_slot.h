// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "backends/common/tensor_view.h"
#include "backends/executorch/loaded_method.h"
#include "backends/executorch/platform.h"
#include "backends/executorch/signature.h"

namespace modelrun::executorch {

struct DeleteManaged {
  void operator()(DLManagedTensorVersioned* tensor) const noexcept {
    tensor->deleter(tensor);
  }
};
using OwnedTensor = std::unique_ptr<DLManagedTensorVersioned, DeleteManaged>;

/// One output of a request: the caller's memory, or what was kept of the last
/// run.
class OutputSlot {
 public:
  OutputSlot(const modelrun_port& port, const PortFacts& facts)
      : port_(&port), facts_(&facts) {}

  void bind(const DLTensor& tensor);
  void clear() noexcept { view_.data = nullptr; }
  [[nodiscard]] bool is_bound() const noexcept { return view_.data != nullptr; }
  /// The caller's memory.
  [[nodiscard]] const plugin::TensorView& view() const noexcept {
    return view_;
  }

  /// Gives a method that has no memory for the output some that holds the
  /// largest there can be: with less, or none, the runtime crashes.
  void provide_memory(LoadedMethod& method, LogCapture& log);

  /// Where the last run left it.
  [[nodiscard]] const void* address(const LoadedMethod& method) const;
  /// Throws Failure when the run gave another shape than is bound.
  void write_bound(const LoadedMethod& method);
  [[nodiscard]] OwnedTensor copied(const LoadedMethod& method) const;

  /// A copy that was made because the memory is the caller's.
  OwnedTensor kept;
  bool is_fetched = false;

 private:
  void copy_to(void* target, const et::EValue& value, std::size_t bytes) const;

  const modelrun_port* port_;
  const PortFacts* facts_;
  plugin::TensorView view_;
  Buffer memory_;
};

}  // namespace modelrun::executorch
