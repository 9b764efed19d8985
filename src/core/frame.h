// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "modelrun/structure.h"
#include "modelrun/tensor.h"
#include "modelrun/value.h"

namespace modelrun::detail {

/// The tensors of one nested value with the structure that they fill: one
/// allocation for all of it, made once per call.
class Frame {
 public:
  /// A frame of `size` undefined tensors. `structure` needs them all.
  static std::shared_ptr<Frame> create(
      std::shared_ptr<const Structure> structure, std::size_t size);

  [[nodiscard]] const Structure& structure() const noexcept {
    return *structure_;
  }
  [[nodiscard]] const std::shared_ptr<const Structure>& shared_structure()
      const noexcept {
    return structure_;
  }
  [[nodiscard]] std::span<Tensor> tensors() noexcept {
    return {slots(), size_};
  }
  [[nodiscard]] std::span<const Tensor> tensors() const noexcept {
    return {const_cast<Frame*>(this)->slots(), size_};
  }

  /// The frame that a nested value is in; null for the others.
  static const Frame* of(const Value& value) noexcept;
  /// The value at the root of a frame, which it keeps alive.
  static Value root(std::shared_ptr<const Frame> frame);

  Frame(std::shared_ptr<const Structure> structure, std::size_t size) noexcept;
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// The bytes that follow a frame for its tensors.
  [[nodiscard]] static std::size_t slot_bytes(std::size_t size) noexcept {
    return size * sizeof(Tensor);
  }

 private:
  [[nodiscard]] Tensor* slots() noexcept {
    return reinterpret_cast<Tensor*>(this + 1);
  }

  std::shared_ptr<const Structure> structure_;
  std::size_t size_;
};

}  // namespace modelrun::detail
