// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/common/tensor_view.h"
#include "backends/executorch/loaded_method.h"
#include "backends/executorch/platform.h"
#include "backends/executorch/signature.h"

namespace modelrun::executorch {

/// One input of a request: the caller's memory, and how it gets to a method.
///
/// A method either copies an input into memory that was planned for it, each
/// time that it is set, or uses what it is given. In that case it may write to
/// it (a cache that is updated), and may read past its end; where that would
/// be seen, it is given a copy.
class InputSlot {
 public:
  InputSlot(const modelrun_port& port, const PortFacts& facts)
      : port_(&port), facts_(&facts) {}

  void bind(const DLTensor& tensor);
  void clear() noexcept { view_.data = nullptr; }
  [[nodiscard]] bool is_bound() const noexcept { return view_.data != nullptr; }
  /// The caller's memory.
  [[nodiscard]] const plugin::TensorView& view() const noexcept {
    return view_;
  }

  /// Another method is given the input next.
  void forget() noexcept { is_set_ = false; }
  /// `in_place`: the method may write to the caller's memory.
  void give_to(LoadedMethod& method, bool in_place, LogCapture& log);

 private:
  [[nodiscard]] std::byte* given(bool in_place);
  void describe_tensor();

  const modelrun_port* port_;
  const PortFacts* facts_;
  plugin::TensorView view_;
  Buffer copy_;
  std::vector<std::int32_t> sizes_;
  std::vector<std::int32_t> strides_;
  std::vector<std::uint8_t> order_;
  std::optional<::executorch::aten::TensorImpl> tensor_;
  bool is_set_ = false;
};

}  // namespace modelrun::executorch
