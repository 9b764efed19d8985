// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/executorch/state_regions.h"

namespace modelrun::executorch {

/// What a program says of one method that the runtime does not tell.
struct Plan {
  /// As `"aten::add.out"`, sorted, each once.
  std::vector<std::string> operators;
  /// The delegates that it was lowered to, sorted, each once.
  std::vector<std::string> backends;
  /// For each output whether an instruction may write it: the others have the
  /// value that is in the program, or that of an input.
  std::vector<bool> computed;
  /// The memory that holds what one run leaves to the next.
  std::vector<MemoryRegion> state;
};

/// The schema version of a program, and the names of its methods.
struct ProgramFacts {
  std::uint32_t version = 0;
  std::vector<std::string> methods;
};

/// Reads a program's flatbuffer; both throw Failure on a damaged one.
[[nodiscard]] ProgramFacts read_facts(std::span<const std::byte> program);
[[nodiscard]] Plan read_plan(std::span<const std::byte> program,
                             const std::string& method);

}  // namespace modelrun::executorch
