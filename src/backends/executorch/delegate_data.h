// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/executorch/flat_table.h"

namespace modelrun::executorch {

/// Whether a value of a plan is a tensor whose elements are in the program.
[[nodiscard]] bool is_constant(const FlatTable& value);

/// What a program file holds for the delegates, beside the instructions.
class DelegateData {
 public:
  using Bytes = std::span<const std::byte>;

  explicit DelegateData(Bytes file);

  /// The data that a delegate of a plan is made from; throws Failure where it
  /// lies outside of the file.
  [[nodiscard]] Bytes of(const FlatTable& delegate) const;
  /// The size of what the file has under a name; nothing when it has none.
  [[nodiscard]] std::optional<std::size_t> named_bytes(
      const std::string& name) const;

 private:
  [[nodiscard]] Bytes segment(std::uint32_t index) const;

  Bytes file_;
  std::uint64_t segments_start_ = 0;
  std::vector<FlatTable> inline_data_;
  std::vector<FlatTable> segments_;
  std::vector<FlatTable> named_;
};

/// Checks the data of those delegates of a plan whose form is known, before
/// they read it; throws Failure on a damaged one.
void check_delegates(const FlatTable& plan, const DelegateData& data);

}  // namespace modelrun::executorch
