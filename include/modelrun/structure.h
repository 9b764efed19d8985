// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace modelrun {

/// A value that is not a tensor: `None`, a bool, an int, a float or a string.
using Scalar =
    std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// As Python writes it: `None`, `True`, `3`, `1.5`, `'eager'`.
[[nodiscard]] std::string to_string(const Scalar& scalar);

/// The static shape of nested inputs or outputs: what a torch pytree spec is.
///
/// A structure is an immutable tree. Its inner nodes are tuples, lists, dicts
/// and objects; its ends are leaves (slots of a flat array of tensors) and
/// constants. It is built once, when an export is read, and then shared by
/// every call, so that a call builds no maps and no strings.
///
/// ```
/// Structure layer = Structure::object("my.Layer",
///     {{"keys", Structure::leaf(0)}, {"values", Structure::leaf(1)}});
/// layer.find("keys")->leaf_index();  // 0
/// ```
///
/// Copying is not offered: hold one by `std::shared_ptr<const Structure>`.
class Structure {
 public:
  enum class Kind : std::uint8_t { leaf, constant, tuple, list, dict, object };

  /// A dict's key. Objects have strings only; tuples and lists none.
  using Key = std::variant<std::string, std::int64_t>;

  struct Entry;

  /// The `index`-th leaf of the whole tree.
  static Structure leaf(std::size_t index);
  /// A leaf of which the tensor holds one number, such as a size that the
  /// program computed: its value is that number, not the tensor.
  static Structure number(std::size_t index);
  static Structure constant(Scalar value);
  /// `class_name` is the container's own, `"builtins.tuple"` or a namedtuple's.
  static Structure tuple(std::vector<Structure> items,
                         std::string class_name = "builtins.tuple");
  static Structure list(std::vector<Structure> items,
                        std::string class_name = "builtins.list");
  static Structure dict(std::vector<Entry> entries,
                        std::string class_name = "builtins.dict");
  /// An object with attributes, such as a ModelOutput or a cache.
  static Structure object(std::string class_name, std::vector<Entry> entries);

  Structure(Structure&&) noexcept = default;
  Structure& operator=(Structure&&) noexcept = default;
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;
  ~Structure() = default;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_leaf() const noexcept { return kind_ == Kind::leaf; }
  /// Whether this is a leaf that `number` made.
  [[nodiscard]] bool is_number() const noexcept { return is_number_; }
  [[nodiscard]] bool is_constant() const noexcept {
    return kind_ == Kind::constant;
  }

  /// The dotted class of an inner node, such as
  /// `"transformers.cache_utils.DynamicCache"`; empty for the ends.
  [[nodiscard]] const std::string& class_name() const noexcept {
    return class_name_;
  }
  /// The slot of a leaf.
  [[nodiscard]] std::size_t leaf_index() const noexcept { return leaf_index_; }
  /// The value of a constant.
  [[nodiscard]] const Scalar& value() const noexcept { return value_; }

  /// The number of children of an inner node.
  [[nodiscard]] std::size_t size() const noexcept { return children_.size(); }
  [[nodiscard]] const Structure& child(std::size_t i) const {
    return children_[i];
  }
  /// The key of the `i`-th child of a dict or object.
  [[nodiscard]] const Key& key(std::size_t i) const { return keys_[i]; }
  /// The `i`-th child's key as a step of a leaf path: `"layers"`, `"0"`.
  [[nodiscard]] std::string step(std::size_t i) const;

  /// The child under a key; null when there is none. For tuples and lists a
  /// decimal index is a key, too.
  [[nodiscard]] const Structure* find(std::string_view key) const noexcept;
  /// The node under a dotted path, such as `"layers.0.keys"`; null when there
  /// is none. A key that itself holds dots is matched as a whole.
  [[nodiscard]] const Structure* find_path(
      std::string_view path) const noexcept;

  /// The number of leaves in this tree.
  [[nodiscard]] std::size_t leaf_count() const noexcept;
  /// Calls `visit(path, leaf)` for each leaf of this tree, in the tree's order;
  /// paths are dotted, below `prefix`.
  template <typename Visit>
  void for_each_leaf(const std::string& prefix, Visit&& visit) const {
    if (is_leaf()) visit(prefix, *this);
    for (std::size_t i = 0; i < size(); ++i) {
      child(i).for_each_leaf(prefix.empty() ? step(i) : prefix + "." + step(i),
                             visit);
    }
  }

  /// Whether both trees have the same kinds, classes, keys and constants, leaf
  /// for leaf.
  friend bool operator==(const Structure& a, const Structure& b);

 private:
  Structure() = default;

  Kind kind_ = Kind::leaf;
  bool is_number_ = false;
  std::size_t leaf_index_ = 0;
  Scalar value_;
  std::string class_name_;
  std::vector<Key> keys_;
  std::vector<Structure> children_;
};

/// A key and what is under it, for building a dict or an object.
struct Structure::Entry {
  Key key;
  Structure value;
};

/// An indented drawing of the tree, for people: one node a line.
[[nodiscard]] std::string to_string(const Structure& structure);

}  // namespace modelrun
