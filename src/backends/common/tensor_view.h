// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace modelrun::plugin {

/// Bytes of a contiguous tensor, 4-bit types packed; nothing when a dimension
/// is negative or the size overflows.
[[nodiscard]] std::optional<std::size_t> byte_size(const std::int64_t* dims,
                                                   std::size_t rank,
                                                   DLDataType type) noexcept;

/// As `"int64[1, 7]"`.
[[nodiscard]] std::string shown_tensor(DLDataType dtype,
                                       const std::int64_t* dims,
                                       std::size_t rank);

[[nodiscard]] bool is_same_dtype(DLDataType a, DLDataType b) noexcept;

/// Memory of the caller's that can be bound to a port: contiguous, on the CPU,
/// its size known.
struct TensorView {
  /// Never NULL: an empty tensor has an address that nothing is at.
  void* data = nullptr;
  std::size_t bytes = 0;
  DLDataType dtype{};
  std::vector<std::int64_t> dims;

  /// Becomes a view of `tensor`, reusing memory. Throws Failure, and then
  /// changes nothing, on a tensor that is none of that; `port` is for the
  /// message.
  void assign(const DLTensor& tensor, const char* port);
  /// Whether `tensor` is the same memory, dtype and shape.
  [[nodiscard]] bool holds(const DLTensor& tensor) const noexcept;
  [[nodiscard]] bool overlaps(const TensorView& other) const noexcept;
  [[nodiscard]] std::string shown() const {
    return shown_tensor(dtype, dims.data(), dims.size());
  }
};

/// A new view; throws as `assign`.
[[nodiscard]] TensorView checked_view(const DLTensor& tensor, const char* port);

/// Throws Failure: this tensor cannot be bound to `port`, for this reason.
[[noreturn]] void refuse_tensor(const DLTensor& tensor, const char* port,
                                const std::string& why);

}  // namespace modelrun::plugin
