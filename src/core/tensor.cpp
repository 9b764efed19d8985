// SPDX-License-Identifier: Apache-2.0
#include "modelrun/tensor.h"

#include <cstring>
#include <limits>
#include <new>

#include "modelrun/error.h"

namespace modelrun {
namespace {

constexpr std::align_val_t kAlign{Tensor::kAlignment};

std::shared_ptr<void> allocate(std::size_t bytes) {
  return {::operator new(bytes, kAlign),
          [](void* memory) { ::operator delete(memory, kAlign); }};
}

bool is_row_major(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    // The stride of an axis of one element is never used.
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

// Throws unless every reachable element lies at an offset that fits, so that
// address arithmetic on it cannot overflow.
void check_strides(const Shape& shape, const Shape& strides) {
  std::int64_t reach = 0;
  bool overflow = false;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    std::int64_t span = 0;
    if (shape[axis] == 0) return;
    overflow |= __builtin_mul_overflow(shape[axis] - 1, strides[axis], &span);
    if (span < 0) overflow |= __builtin_sub_overflow(0, span, &span);
    overflow |= __builtin_add_overflow(reach, span, &reach);
  }
  if (overflow || reach > std::numeric_limits<std::int64_t>::max() / 16) {
    throw InvalidArgument("strides of " + to_string(strides) +
                          " on a shape of " + to_string(shape) +
                          " reach past any memory");
  }
}

void copy_strided(const Tensor& from, std::byte* to, std::size_t axis,
                  const std::byte* source, std::size_t width) {
  const auto size = from.shape()[axis];
  // The stride of an axis of one element is never used, and may be anything.
  const auto step =
      size == 1 ? 0 : from.strides()[axis] * static_cast<std::int64_t>(width);
  const bool last = axis + 1 == from.rank();
  std::size_t chunk = width;
  for (std::size_t i = axis + 1; i < from.rank(); ++i) {
    chunk *= static_cast<std::size_t>(from.shape()[i]);
  }
  if (last && step == static_cast<std::int64_t>(width)) {
    std::memcpy(to, source, static_cast<std::size_t>(size) * width);
    return;
  }
  for (std::int64_t i = 0; i < size; ++i, to += chunk) {
    if (last) {
      std::memcpy(to, source + i * step, width);
    } else {
      copy_strided(from, to, axis + 1, source + i * step, width);
    }
  }
}

void check_on_cpu(const Tensor& tensor, const char* what) {
  if (!tensor.defined()) {
    throw InvalidArgument(std::string(what) + " an undefined tensor");
  }
  if (tensor.device().type != DeviceType::cpu) {
    throw InvalidArgument(std::string(what) + " a tensor on " +
                          to_string(tensor.device()) +
                          " from the host: move it to the cpu first");
  }
}

}  // namespace

Tensor Tensor::view(void* data, TensorLayout layout,
                    std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.count_ = layout.shape.element_count();
  (void)modelrun::byte_size(layout.dtype, tensor.count_);
  if (data == nullptr && tensor.count_ > 0) {
    throw InvalidArgument("a view of " + std::to_string(tensor.count_) +
                          " elements at a null address");
  }
  if (!layout.strides.empty()) {
    if (layout.strides.rank() != layout.shape.rank()) {
      throw InvalidArgument("strides of " + to_string(layout.strides) +
                            " do not fit a shape of " +
                            to_string(layout.shape));
    }
    check_strides(layout.shape, layout.strides);
    if (tensor.count_ == 0 || is_row_major(layout.shape, layout.strides)) {
      layout.strides = {};
    } else if (bits(layout.dtype) < 8) {
      throw Unsupported("a strided view of packed " +
                        std::string(name(layout.dtype)) + " elements");
    }
  }
  tensor.data_ = data;
  tensor.owner_ = std::move(owner);
  tensor.shape_ = std::move(layout.shape);
  tensor.strides_ = std::move(layout.strides);
  tensor.device_ = layout.device;
  tensor.dtype_ = layout.dtype;
  tensor.defined_ = true;
  return tensor;
}

Tensor Tensor::empty(DType dtype, Shape shape) {
  auto memory = allocate(modelrun::byte_size(dtype, shape.element_count()));
  void* const data = memory.get();
  return view(data, {.dtype = dtype, .shape = std::move(shape)},
              std::move(memory));
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor tensor = empty(dtype, std::move(shape));
  std::memset(tensor.data_, 0, tensor.byte_size());
  return tensor;
}

Tensor Tensor::copy_of(const void* values, std::size_t count, DType dtype,
                       Shape shape) {
  if (static_cast<std::uint64_t>(shape.element_count()) != count) {
    throw InvalidArgument(std::to_string(count) +
                          " values do not fill a shape of " + to_string(shape));
  }
  Tensor tensor = empty(dtype, std::move(shape));
  if (count > 0) std::memcpy(tensor.data_, values, tensor.byte_size());
  return tensor;
}

std::size_t Tensor::byte_size() const noexcept {
  const auto width = static_cast<std::size_t>(bits(dtype_));
  return (static_cast<std::size_t>(count_) * width + 7) / 8;
}

Tensor Tensor::contiguous() const {
  if (is_contiguous()) return *this;
  return clone();
}

Tensor Tensor::clone() const {
  check_on_cpu(*this, "cannot copy");
  Tensor copy = empty(dtype_, shape_);
  if (count_ == 0) return copy;
  if (is_contiguous()) {
    std::memcpy(copy.data_, data_, byte_size());
  } else {
    copy_strided(*this, static_cast<std::byte*>(copy.data_), 0,
                 static_cast<const std::byte*>(data_),
                 static_cast<std::size_t>(bits(dtype_)) / 8);
  }
  return copy;
}

void Tensor::check_readable_as(DType wanted) const {
  check_on_cpu(*this, "cannot read");
  if (dtype_ != wanted) {
    throw InvalidArgument("cannot read a tensor of " +
                          std::string(name(dtype_)) + " as " +
                          std::string(name(wanted)));
  }
  if (!is_contiguous()) {
    throw InvalidArgument(
        "cannot read a strided tensor as an array: call contiguous() first");
  }
}

void Tensor::check_one_element() const {
  if (count_ != 1) {
    throw InvalidArgument("item() needs a tensor of one element, got " +
                          to_string(*this));
  }
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  check_on_cpu(a, "cannot compare");
  check_on_cpu(b, "cannot compare");
  const Tensor left = a.contiguous();
  const Tensor right = b.contiguous();
  return left.element_count() == 0 ||
         std::memcmp(left.raw_data(), right.raw_data(), left.byte_size()) == 0;
}

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "an undefined tensor";
  return std::string(name(tensor.dtype())) + to_string(tensor.shape()) +
         " on " + to_string(tensor.device());
}

}  // namespace modelrun
