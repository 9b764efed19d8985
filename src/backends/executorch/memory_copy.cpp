// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/memory_copy.h"

#include <cstring>

namespace modelrun::executorch {
namespace {

/// Calls `visit` with the offset of each element, in bytes, in row-major order.
template <typename Visit>
void for_each_offset(const Layout& layout, Visit visit) {
  std::vector<std::int64_t> at(layout.dims.size(), 0);
  for (const std::int64_t size : layout.dims) {
    if (size == 0) return;
  }
  std::int64_t offset = 0;
  while (true) {
    visit(static_cast<std::size_t>(offset) * layout.item);
    std::size_t axis = at.size();
    while (axis > 0) {
      --axis;
      offset += layout.strides[axis];
      if (++at[axis] < layout.dims[axis]) break;
      offset -= layout.strides[axis] * layout.dims[axis];
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (at.empty()) return;
  }
}

}  // namespace

std::vector<std::int64_t> strides_of(std::span<const std::int64_t> dims,
                                     std::span<const std::uint8_t> order) {
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::size_t axis = order.empty() ? i : order[i];
    strides[axis] = stride;
    stride *= dims[axis] == 0 ? 1 : dims[axis];
  }
  return strides;
}

void copy_to_row_major(void* target, const void* source, const Layout& layout) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  for_each_offset(layout, [&](std::size_t offset) {
    std::memcpy(to, from + offset, layout.item);
    to += layout.item;
  });
}

void copy_from_row_major(void* target, const void* source,
                         const Layout& layout) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  for_each_offset(layout, [&](std::size_t offset) {
    std::memcpy(to + offset, from, layout.item);
    from += layout.item;
  });
}

}  // namespace modelrun::executorch
