// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/input_slot.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "backends/executorch/element_type.h"
#include "backends/executorch/error_words.h"
#include "backends/executorch/memory_copy.h"
#include "backends/executorch/port_check.h"

namespace modelrun::executorch {
namespace {

/// Whether reading past the end of this memory stays on its last page.
bool may_be_overread(const void* data, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kSmallestPage = 4096;
  const auto end = reinterpret_cast<std::uintptr_t>(data) + bytes;
  return bytes == 0 ||
         (end - 1) / kSmallestPage == (end - 1 + kReadPastEnd) / kSmallestPage;
}

}  // namespace

void InputSlot::bind(const DLTensor& tensor) {
  if (view_.holds(tensor)) return;
  view_ = checked_for_port(tensor, *port_, *facts_);
  is_set_ = false;
  describe_tensor();
}

void InputSlot::describe_tensor() {
  const auto& dims = view_.dims;
  const auto strides = strides_of(dims, facts_->order);
  sizes_.assign(dims.begin(), dims.end());
  strides_.assign(strides.begin(), strides.end());
  order_ = facts_->order;
  const auto type = scalar_type_of(port_->dtype);
  tensor_.emplace(type, static_cast<ssize_t>(sizes_.size()), sizes_.data(),
                  view_.data, order_.data(), strides_.data());
}

std::byte* InputSlot::given(bool in_place) {
  const bool is_shared =
      facts_->is_planned ||
      (in_place || (facts_->same_as == PortFacts::kNone &&
                    may_be_overread(view_.data, view_.bytes)));
  if (is_shared && facts_->is_row_major)
    return static_cast<std::byte*>(view_.data);
  if (copy_.data() == nullptr || copy_.size() < view_.bytes) {
    copy_ = Buffer(std::max(view_.bytes, facts_->max_bytes));
    is_set_ = false;
  }
  if (facts_->is_row_major) {
    std::memcpy(copy_.data(), view_.data, view_.bytes);
  } else {
    const Layout layout{.dims = view_.dims,
                        .strides = {strides_.begin(), strides_.end()},
                        .item = port_->dtype.bits / 8U};
    copy_from_row_major(copy_.data(), view_.data, layout);
  }
  return copy_.data();
}

void InputSlot::give_to(LoadedMethod& method, bool in_place, LogCapture& log) {
  std::byte* const data = given(in_place);
  if (is_set_ && data == tensor_->data() && !facts_->is_planned) return;
  tensor_->set_data(data);
  const auto error = method.handle().set_input(
      et::EValue(::executorch::aten::Tensor(&*tensor_)), facts_->position);
  if (error != et::Error::Ok) {
    fail(error,
         "setting '" + std::string(port_->name) + "' to " + view_.shown(), log);
  }
  is_set_ = true;
}

}  // namespace modelrun::executorch
