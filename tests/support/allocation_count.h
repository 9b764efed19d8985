// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace modelrun::testing {

/// Counts what the current thread allocates with `new`, in an executable that
/// uses it, from when it was made.
///
/// ```
/// const AllocationCount allocations;
/// model(kwargs);
/// if (allocations.count()) EXPECT_EQ(*allocations.count(), 1u);
/// ```
///
/// The counts of two of them that overlap in time are independent. What other
/// threads allocate, and memory from `malloc`, is not counted.
class AllocationCount {
 public:
  AllocationCount() noexcept;

  /// The allocations since; empty under a sanitizer, whose own `new` stays.
  [[nodiscard]] std::optional<std::size_t> count() const noexcept;

 private:
  std::size_t before_;
};

}  // namespace modelrun::testing
