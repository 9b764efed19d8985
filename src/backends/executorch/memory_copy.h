// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace modelrun::executorch {

/// Elements of a tensor in memory: its sizes, its strides in elements, the
/// bytes of one.
struct Layout {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;
  std::size_t item = 0;
};

/// The strides of a tensor whose axes lie in memory in this order, outermost
/// first; without an order, as they are.
[[nodiscard]] std::vector<std::int64_t> strides_of(
    std::span<const std::int64_t> dims, std::span<const std::uint8_t> order);

/// Copies elements from one layout to a row-major one, or back.
void copy_to_row_major(void* target, const void* source, const Layout& layout);
void copy_from_row_major(void* target, const void* source,
                         const Layout& layout);

}  // namespace modelrun::executorch
