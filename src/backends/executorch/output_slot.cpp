// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/output_slot.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "backends/common/owned_tensor.h"
#include "backends/executorch/api.h"
#include "backends/executorch/error_words.h"
#include "backends/executorch/memory_copy.h"
#include "backends/executorch/port_check.h"
#include "backends/executorch/scalar.h"

namespace modelrun::executorch {
namespace {

/// A number has none.
std::vector<std::int64_t> dims_of(const et::EValue& value) {
  if (!value.isTensor()) return {};
  const auto sizes = value.toTensor().sizes();
  return {sizes.begin(), sizes.end()};
}

bool has_dims(const et::EValue& value, const std::vector<std::int64_t>& dims) {
  if (!value.isTensor()) return dims.empty();
  const auto sizes = value.toTensor().sizes();
  return std::equal(sizes.begin(), sizes.end(), dims.begin(), dims.end());
}

bool is_row_major(const ::executorch::aten::Tensor& tensor) {
  std::size_t axis = 0;
  for (const auto next : tensor.dim_order()) {
    if (next != axis++) return false;
  }
  return true;
}

}  // namespace

void OutputSlot::bind(const DLTensor& tensor) {
  if (!view_.holds(tensor)) {
    view_ = checked_for_port(tensor, *port_, *facts_);
  }
  kept.reset();
}

void OutputSlot::provide_memory(LoadedMethod& method, LogCapture& log) {
  const bool needed = facts_->is_tensor && !facts_->is_planned &&
                      facts_->same_as == PortFacts::kNone;
  if (!needed) return;
  if (memory_.data() == nullptr) memory_ = Buffer(facts_->max_bytes);
  const auto error = method.handle().set_output_data_ptr(
      memory_.data(), memory_.size(), facts_->position);
  check(error, "giving memory to output '" + std::string(port_->name) + "'",
        log);
}

const void* OutputSlot::address(const LoadedMethod& method) const {
  const et::EValue& value = method.output(facts_->position);
  return value.isTensor() ? value.toTensor().const_data_ptr() : nullptr;
}

void OutputSlot::copy_to(void* target, const et::EValue& value,
                         std::size_t bytes) const {
  if (!value.isTensor()) {
    write_scalar(value, target);
    return;
  }
  const auto& tensor = value.toTensor();
  const void* source = tensor.const_data_ptr();
  if (bytes == 0 || source == target) return;
  if (source == nullptr) {
    throw Failure(MODELRUN_BACKEND_ERROR,
                  "the run wrote no output '" + std::string(port_->name) + "'");
  }
  if (is_row_major(tensor)) {
    // An output may be bound to the memory of an input that it is a view of.
    std::memmove(target, source, bytes);
    return;
  }
  const auto order = tensor.dim_order();
  const auto dims = dims_of(value);
  copy_to_row_major(target, source,
                    {.dims = dims,
                     .strides = strides_of(dims, {order.data(), order.size()}),
                     .item = port_->dtype.bits / 8U});
}

void OutputSlot::write_bound(const LoadedMethod& method) {
  if (!is_bound()) return;
  const et::EValue& value = method.output(facts_->position);
  if (!has_dims(value, view_.dims)) {
    const auto dims = dims_of(value);
    throw Failure(
        MODELRUN_INVALID_ARGUMENT,
        "output '" + std::string(port_->name) + "' is bound to " +
            view_.shown() + ", but the run gave " +
            plugin::shown_tensor(port_->dtype, dims.data(), dims.size()));
  }
  copy_to(view_.data, value, view_.bytes);
}

OwnedTensor OutputSlot::copied(const LoadedMethod& method) const {
  const et::EValue& value = method.output(facts_->position);
  const auto dims = dims_of(value);
  OwnedTensor tensor(plugin::make_owned_tensor(port_->dtype, dims));
  copy_to(tensor->dl_tensor.data, value,
          *plugin::byte_size(dims.data(), dims.size(), port_->dtype));
  return tensor;
}

}  // namespace modelrun::executorch
