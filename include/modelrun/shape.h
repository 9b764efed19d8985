// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace modelrun {

/// The sizes (or strides, in elements) of a tensor's axes.
///
/// Up to `kInlineRank` axes it holds no heap memory, so copying one is cheap
/// and a call in its steady state allocates nothing for shapes.
class Shape {
 public:
  static constexpr std::size_t kInlineRank = 6;

  Shape() noexcept = default;
  Shape(std::initializer_list<std::int64_t> sizes)
      : Shape(std::span<const std::int64_t>(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const std::int64_t> sizes);
  Shape(const Shape& other)
      : Shape(std::span<const std::int64_t>(other.data(), other.rank())) {}
  Shape(Shape&& other) noexcept { steal(other); }
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;
  ~Shape() { release(); }

  /// A shape of `rank` zeros, to be filled in.
  static Shape of_rank(std::size_t rank);

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] bool empty() const noexcept { return rank_ == 0; }
  [[nodiscard]] const std::int64_t* data() const noexcept {
    return rank_ <= kInlineRank ? inline_ : heap_;
  }
  [[nodiscard]] std::int64_t* data() noexcept {
    return rank_ <= kInlineRank ? inline_ : heap_;
  }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept {
    return data()[axis];
  }
  [[nodiscard]] std::int64_t& operator[](std::size_t axis) noexcept {
    return data()[axis];
  }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept {
    return data() + rank_;
  }

  /// The product of all sizes, 1 for rank 0; throws InvalidArgument when a
  /// size is negative or the product does not fit.
  [[nodiscard]] std::int64_t element_count() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  void release() noexcept {
    if (rank_ > kInlineRank) delete[] heap_;
  }
  void steal(Shape& other) noexcept;

  std::size_t rank_ = 0;
  union {
    std::int64_t inline_[kInlineRank] = {};
    std::int64_t* heap_;
  };
};

/// As torch prints it: `"[2, 8]"`, `"[]"` for a scalar.
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace modelrun
