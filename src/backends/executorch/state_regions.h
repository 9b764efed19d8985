// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "backends/executorch/flat_table.h"

namespace modelrun::executorch {

/// A part of the memory that the runtime planned for a method.
struct MemoryRegion {
  /// Among the planned buffers.
  std::size_t buffer = 0;
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Where a method keeps what one run leaves to the next: the buffers of the
/// source model that it writes to. A program does not tell them from what is
/// written anew in each run, so these are the planned tensors, inputs apart,
/// that an instruction reads before another wrote them, or changes in place.
/// There may be too many among them, which does no harm to those who write
/// their first values back before a run. `plan` is the program's table of the
/// method; throws Failure on a damaged one.
[[nodiscard]] std::vector<MemoryRegion> find_state(const FlatTable& plan);

}  // namespace modelrun::executorch
