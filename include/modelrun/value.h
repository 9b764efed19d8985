// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "modelrun/structure.h"
#include "modelrun/tensor.h"

namespace modelrun {

namespace detail {
class Frame;
}

/// What goes into a call and comes out of it: a tensor, a scalar, or a nest of
/// them.
///
/// The nested kinds are a `Structure` with a flat array of tensors. A value is
/// a cheap handle: copies and sub-values share the tensors, so a cache taken
/// out of one call's outputs can be kept, and passed to the next call.
///
/// ```
/// Outputs outputs = model({{"input_ids", ids}});
/// Tensor hidden = outputs["last_hidden_state"].tensor();
/// Value cache = outputs["past_key_values"];
/// outputs = model({{"input_ids", next}, {"past_key_values", cache}});
/// ```
///
/// Thread-safe to read.
class Value {
 public:
  /// `None`.
  Value() noexcept = default;
  Value(Tensor tensor) : data_(std::move(tensor)) {}
  template <std::same_as<bool> T>
  Value(T value) : data_(Scalar(value)) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : data_(Scalar(checked(value))) {}
  template <std::floating_point T>
  Value(T value) : data_(Scalar(static_cast<double>(value))) {}
  Value(std::string value) : data_(Scalar(std::move(value))) {}
  Value(std::string_view value) : Value(std::string(value)) {}
  Value(const char* value) : Value(std::string(value)) {}
  Value(Scalar scalar) : data_(std::move(scalar)) {}
  /// `structure` with its tensors, one per leaf slot; throws InvalidArgument
  /// when a leaf's slot is past them.
  Value(std::shared_ptr<const Structure> structure,
        std::vector<Tensor> tensors);

  /// A dict of values, in the given order.
  static Value mapping(std::vector<std::pair<std::string, Value>> entries,
                       std::string class_name = "builtins.dict");
  /// A list of values.
  static Value sequence(std::vector<Value> items,
                        std::string class_name = "builtins.list");

  [[nodiscard]] Structure::Kind kind() const noexcept;
  [[nodiscard]] bool is_none() const noexcept;
  [[nodiscard]] bool is_tensor() const noexcept;
  [[nodiscard]] bool is_scalar() const noexcept;
  /// A tuple, list, dict or object.
  [[nodiscard]] bool is_nested() const noexcept;

  /// The tensor; throws InvalidArgument when it is something else.
  [[nodiscard]] const Tensor& tensor() const;
  /// The scalar, `None` included; throws InvalidArgument when it is not one.
  [[nodiscard]] const Scalar& scalar() const;
  /// The scalar as a bool, std::int64_t, double or std::string; an int is
  /// accepted where a double is asked for.
  template <typename T>
  [[nodiscard]] T as() const;

  /// The dotted class of a nested value, such as
  /// `"transformers.modeling_outputs.BaseModelOutput"`; empty otherwise.
  [[nodiscard]] std::string_view class_name() const noexcept;
  /// The number of children; 0 for a tensor or a scalar.
  [[nodiscard]] std::size_t size() const noexcept;
  /// The keys of the children, as strings; indices for tuples and lists.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The child under a key, attribute or decimal index, or under a dotted path
  /// of them; throws NotFound, which names the nearest key.
  [[nodiscard]] Value at(std::string_view path) const;
  [[nodiscard]] Value operator[](std::string_view path) const {
    return at(path);
  }
  [[nodiscard]] Value operator[](const char* path) const { return at(path); }
  /// The `i`-th child; throws NotFound when there are not so many.
  [[nodiscard]] Value operator[](std::size_t i) const;
  [[nodiscard]] Value operator[](int i) const {
    return (*this)[static_cast<std::size_t>(i)];
  }
  /// Whether `at(path)` would find something.
  [[nodiscard]] bool contains(std::string_view path) const noexcept;

  /// Every tensor below, with its dotted path, in order; numbers apart.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> leaves() const;

  /// The structure of a nested value, null otherwise, and the tensors that its
  /// leaf slots index. Both live as long as this value or a copy of it.
  [[nodiscard]] const Structure* structure() const noexcept;
  [[nodiscard]] std::span<const Tensor> slots() const noexcept;

  class Iterator;
  [[nodiscard]] Iterator begin() const noexcept;
  [[nodiscard]] Iterator end() const noexcept;

 private:
  friend class detail::Frame;
  struct Nested {
    std::shared_ptr<const detail::Frame> frame;
    const Structure* node = nullptr;
  };

  explicit Value(Nested nested) : data_(std::move(nested)) {}
  template <std::integral T>
  static std::int64_t checked(T value) {
    if (!std::in_range<std::int64_t>(value)) throw_out_of_range();
    return static_cast<std::int64_t>(value);
  }
  [[noreturn]] static void throw_out_of_range();
  [[nodiscard]] Value child(const Structure& node) const;

  std::variant<Scalar, Tensor, Nested> data_;
};

/// What a call returns: the source model's own output class, or whatever it
/// returned.
using Outputs = Value;

/// Walks the children of a nested value; each is made as it is reached.
class Value::Iterator {
 public:
  using value_type = Value;
  using difference_type = std::ptrdiff_t;

  Value operator*() const { return (*parent_)[index_]; }
  Iterator& operator++() noexcept {
    ++index_;
    return *this;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  friend class Value;
  Iterator(const Value* parent, std::size_t index)
      : parent_(parent), index_(index) {}
  const Value* parent_;
  std::size_t index_;
};

/// One named argument. The name may be a leaf's dotted path
/// (`"past_key_values.layers.0.keys"`); it is borrowed, not copied.
struct Kwarg {
  std::string_view name;
  Value value;
};

/// The arguments of one call: a view of the caller's array.
class Kwargs {
 public:
  Kwargs() noexcept = default;
  Kwargs(std::initializer_list<Kwarg> kwargs) noexcept
      : kwargs_(kwargs.begin(), kwargs.size()) {}
  Kwargs(std::span<const Kwarg> kwargs) noexcept : kwargs_(kwargs) {}
  Kwargs(const std::vector<Kwarg>& kwargs) noexcept : kwargs_(kwargs) {}

  [[nodiscard]] const Kwarg* begin() const noexcept { return kwargs_.data(); }
  [[nodiscard]] const Kwarg* end() const noexcept {
    return kwargs_.data() + kwargs_.size();
  }
  [[nodiscard]] std::size_t size() const noexcept { return kwargs_.size(); }
  [[nodiscard]] const Kwarg& operator[](std::size_t i) const noexcept {
    return kwargs_[i];
  }

 private:
  std::span<const Kwarg> kwargs_;
};

/// The tree of a value for people: classes, keys, dtypes and shapes.
[[nodiscard]] std::string to_string(const Value& value);

}  // namespace modelrun
