// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "modelrun/tensor.h"

namespace modelrun::detail {

/// The content of a file, mapped into memory until the last owner goes. What
/// is written to it stays in this process.
class MappedTensors : public std::enable_shared_from_this<MappedTensors> {
 public:
  /// Throws NotFound when there is no such file, InvalidArgument when it is
  /// not a regular file or cannot be read.
  static std::shared_ptr<const MappedTensors> open(
      const std::filesystem::path& path);
  ~MappedTensors();
  MappedTensors(const MappedTensors&) = delete;
  MappedTensors& operator=(const MappedTensors&) = delete;

  [[nodiscard]] std::string_view bytes() const noexcept {
    return {static_cast<const char*>(data_), size_};
  }
  /// The tensor whose elements are at `bytes()[offset]`, which the caller has
  /// checked to lie within: a view, or a copy where an element's address would
  /// not be aligned.
  [[nodiscard]] Tensor tensor(std::size_t offset, TensorLayout layout) const;

 private:
  MappedTensors(void* data, std::size_t size) noexcept
      : data_(data), size_(size) {}

  void* data_;
  std::size_t size_;
};

/// Throws InvalidArgument that begins with `what` when a bool's byte is neither
/// 0 nor 1: C++ has no other bools.
void check_bools(const Tensor& tensor, const std::string& what);

}  // namespace modelrun::detail
