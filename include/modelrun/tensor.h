// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "modelrun/device.h"
#include "modelrun/dtype.h"
#include "modelrun/shape.h"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace modelrun {

/// What a view of foreign memory needs besides its address.
struct TensorLayout {
  DType dtype = DType::float32;
  Shape shape = {};
  /// In elements, one per axis; empty means contiguous.
  Shape strides = {};
  Device device = {};
};

/// An n-dimensional array: its own memory, or a view of someone else's.
///
/// A tensor is a cheap value: copies share the same elements, as in torch.
/// The memory lives for as long as a tensor with its owner does; a view
/// without an owner is valid for as long as the caller keeps the memory.
/// Memory that modelrun allocates is aligned to 64 bytes.
///
/// ```
/// auto ids = Tensor::from<std::int64_t>({101, 7592, 102}, {1, 3});
/// ids.shape();                       // [1, 3]
/// ids.data<std::int64_t>()[1];       // 7592
/// auto view = Tensor::view(buffer, {.dtype = DType::float32,
///                                   .shape = {2, 8}});
/// ```
///
/// Reading one tensor from several threads is safe; writing its elements is
/// the caller's to order.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// No tensor at all: `defined()` is false.
  Tensor() noexcept = default;

  /// Uninitialized memory on the CPU.
  static Tensor empty(DType dtype, Shape shape);
  /// Zeroed memory on the CPU.
  static Tensor zeros(DType dtype, Shape shape);
  /// A copy of `values`, row-major; throws InvalidArgument when their number
  /// is not the shape's.
  template <typename T>
  static Tensor from(std::span<const T> values, Shape shape) {
    return copy_of(values.data(), values.size(), dtype_of<T>, std::move(shape));
  }
  template <typename T>
  static Tensor from(std::initializer_list<T> values, Shape shape) {
    return copy_of(values.begin(), values.size(), dtype_of<T>,
                   std::move(shape));
  }
  /// A tensor of rank 0.
  template <typename T>
  static Tensor scalar(T value) {
    return copy_of(&value, 1, dtype_of<T>, {});
  }

  /// A view of memory that stays the caller's, or that `owner` keeps alive.
  static Tensor view(void* data, TensorLayout layout,
                     std::shared_ptr<const void> owner = nullptr);
  /// A read-only view; whoever writes through it breaks the promise.
  static Tensor view(const void* data, TensorLayout layout,
                     std::shared_ptr<const void> owner = nullptr) {
    return view(const_cast<void*>(data), std::move(layout), std::move(owner));
  }

  /// Takes over a DLPack tensor without a copy; its deleter runs when the last
  /// tensor on it goes. Throws Unsupported on a dtype or device that modelrun
  /// does not know, and then leaves `managed` to the caller.
  static Tensor from_dlpack(DLManagedTensorVersioned* managed);
  static Tensor from_dlpack(DLManagedTensor* managed);
  /// A DLPack tensor on the same memory; the caller owns it, through its
  /// deleter.
  [[nodiscard]] DLManagedTensorVersioned* to_dlpack() const;
  /// The same as the unversioned struct, for consumers older than DLPack 1.0.
  [[nodiscard]] DLManagedTensor* to_dlpack_unversioned() const;

  [[nodiscard]] bool defined() const noexcept { return defined_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t rank() const noexcept { return shape_.rank(); }
  /// In elements; empty when the tensor is contiguous.
  [[nodiscard]] const Shape& strides() const noexcept { return strides_; }
  [[nodiscard]] bool is_contiguous() const noexcept { return strides_.empty(); }
  [[nodiscard]] std::int64_t element_count() const noexcept { return count_; }
  /// Bytes of the elements, gaps not counted.
  [[nodiscard]] std::size_t byte_size() const noexcept;

  /// The address of the first element, in the memory of `device()`.
  [[nodiscard]] void* raw_data() const noexcept { return data_; }
  /// The elements of a contiguous CPU tensor; throws InvalidArgument when the
  /// tensor is another dtype, elsewhere, or strided.
  template <typename T>
  [[nodiscard]] std::span<T> data() const {
    check_readable_as(dtype_of<std::remove_const_t<T>>);
    return {static_cast<T*>(data_), static_cast<std::size_t>(count_)};
  }
  /// The one element of a tensor of one element.
  template <typename T>
  [[nodiscard]] T item() const {
    check_one_element();
    return data<const T>()[0];
  }

  /// Itself when contiguous, else a contiguous copy; CPU only.
  [[nodiscard]] Tensor contiguous() const;
  /// A contiguous copy in memory of its own; CPU only.
  [[nodiscard]] Tensor clone() const;
  /// Who keeps the memory alive; null for a view without an owner.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept {
    return owner_;
  }

 private:
  static Tensor copy_of(const void* values, std::size_t count, DType dtype,
                        Shape shape);
  void check_readable_as(DType wanted) const;
  void check_one_element() const;

  void* data_ = nullptr;
  std::int64_t count_ = 0;
  std::shared_ptr<const void> owner_;
  Shape shape_;
  Shape strides_;
  Device device_;
  DType dtype_ = DType::float32;
  bool defined_ = false;
};

/// Whether dtype, shape and every element's bits are the same; CPU only.
[[nodiscard]] bool equal(const Tensor& a, const Tensor& b);

/// A short description: `"int64[1, 3] on cpu"`.
[[nodiscard]] std::string to_string(const Tensor& tensor);

}  // namespace modelrun
