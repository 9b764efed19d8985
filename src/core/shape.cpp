// SPDX-License-Identifier: Apache-2.0
#include "modelrun/shape.h"

#include <algorithm>

#include "modelrun/error.h"

namespace modelrun {

Shape::Shape(std::span<const std::int64_t> sizes) : rank_(sizes.size()) {
  if (rank_ > kInlineRank) heap_ = new std::int64_t[rank_];
  std::copy(sizes.begin(), sizes.end(), data());
}

Shape Shape::of_rank(std::size_t rank) {
  Shape shape;
  if (rank > kInlineRank) shape.heap_ = new std::int64_t[rank]{};
  shape.rank_ = rank;
  return shape;
}

Shape& Shape::operator=(const Shape& other) {
  if (this == &other) return *this;
  if (rank_ == other.rank_) {
    std::copy(other.begin(), other.end(), data());
    return *this;
  }
  return *this = Shape(other);
}

Shape& Shape::operator=(Shape&& other) noexcept {
  if (this == &other) return *this;
  release();
  steal(other);
  return *this;
}

void Shape::steal(Shape& other) noexcept {
  rank_ = other.rank_;
  if (rank_ > kInlineRank) {
    heap_ = other.heap_;
    other.rank_ = 0;
  } else {
    std::copy(other.begin(), other.end(), inline_);
  }
}

std::int64_t Shape::element_count() const {
  std::int64_t count = 1;
  bool overflow = false;
  bool empty_axis = false;
  for (const std::int64_t size : *this) {
    if (size < 0) {
      throw InvalidArgument("a shape of " + to_string(*this) +
                            " has a negative size");
    }
    empty_axis |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  // An empty axis makes the tensor empty, however large the others are.
  if (empty_axis) return 0;
  if (overflow) {
    throw InvalidArgument("a shape of " + to_string(*this) +
                          " has too many elements");
  }
  return count;
}

bool operator==(const Shape& a, const Shape& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace modelrun
