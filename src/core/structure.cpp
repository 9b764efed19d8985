// SPDX-License-Identifier: Apache-2.0
#include "modelrun/structure.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/scalar_text.h"

namespace modelrun {
namespace {

// The index that a decimal path step names; npos when it is not one.
std::size_t decimal(std::string_view text) noexcept {
  std::size_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = stop == text.data() + text.size() && !text.empty();
  return error == std::errc() && whole ? value : std::string_view::npos;
}

bool key_is(const Structure::Key& key, std::string_view text) noexcept {
  if (const auto* name = std::get_if<std::string>(&key)) return *name == text;
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer,
                                 std::get<std::int64_t>(key));
  return std::string_view(buffer, end.ptr - buffer) == text;
}

void draw(const Structure& node, const std::string& indent, std::string& text) {
  if (node.is_leaf()) {
    text += node.is_number() ? "number\n" : "tensor\n";
    return;
  }
  if (node.is_constant()) {
    text += to_string(node.value()) + "\n";
    return;
  }
  const std::string& whole = node.class_name();
  text += whole.substr(whole.rfind('.') + 1) + "\n";
  for (std::size_t i = 0; i < node.size(); ++i) {
    const bool last = i + 1 == node.size();
    text += indent + (last ? "└── " : "├── ") + node.step(i) + ": ";
    draw(node.child(i), indent + (last ? "    " : "│   "), text);
  }
}

}  // namespace

std::string to_string(const Scalar& scalar) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool value) const {
      return value ? "True" : "False";
    }
    std::string operator()(std::int64_t value) const {
      return std::to_string(value);
    }
    std::string operator()(double value) const { return float_text(value); }
    std::string operator()(const std::string& value) const {
      return quoted_text(value);
    }
  };
  return std::visit(Visitor{}, scalar);
}

Structure Structure::leaf(std::size_t index) {
  Structure node;
  node.leaf_index_ = index;
  return node;
}

Structure Structure::number(std::size_t index) {
  Structure node = leaf(index);
  node.is_number_ = true;
  return node;
}

Structure Structure::constant(Scalar value) {
  Structure node;
  node.kind_ = Kind::constant;
  node.value_ = std::move(value);
  return node;
}

Structure Structure::tuple(std::vector<Structure> items,
                           std::string class_name) {
  Structure node;
  node.kind_ = Kind::tuple;
  node.class_name_ = std::move(class_name);
  node.children_ = std::move(items);
  return node;
}

Structure Structure::list(std::vector<Structure> items,
                          std::string class_name) {
  Structure node = tuple(std::move(items), std::move(class_name));
  node.kind_ = Kind::list;
  return node;
}

Structure Structure::dict(std::vector<Entry> entries, std::string class_name) {
  Structure node;
  node.kind_ = Kind::dict;
  node.class_name_ = std::move(class_name);
  node.keys_.reserve(entries.size());
  node.children_.reserve(entries.size());
  for (Entry& entry : entries) {
    node.keys_.push_back(std::move(entry.key));
    node.children_.push_back(std::move(entry.value));
  }
  return node;
}

Structure Structure::object(std::string class_name,
                            std::vector<Entry> entries) {
  Structure node = dict(std::move(entries), std::move(class_name));
  node.kind_ = Kind::object;
  return node;
}

std::string Structure::step(std::size_t i) const {
  if (keys_.empty()) return std::to_string(i);
  if (const auto* name = std::get_if<std::string>(&keys_[i])) return *name;
  return std::to_string(std::get<std::int64_t>(keys_[i]));
}

const Structure* Structure::find(std::string_view key) const noexcept {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (key_is(keys_[i], key)) return &children_[i];
  }
  if (kind_ != Kind::tuple && kind_ != Kind::list) return nullptr;
  const std::size_t index = decimal(key);
  return index < children_.size() ? &children_[index] : nullptr;
}

const Structure* Structure::find_path(std::string_view path) const noexcept {
  if (const Structure* whole = find(path)) return whole;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1)) {
    const Structure* child = find(path.substr(0, dot));
    if (child == nullptr) continue;
    if (const Structure* found = child->find_path(path.substr(dot + 1))) {
      return found;
    }
  }
  return nullptr;
}

std::size_t Structure::leaf_count() const noexcept {
  if (is_leaf()) return 1;
  std::size_t count = 0;
  for (const Structure& child : children_) count += child.leaf_count();
  return count;
}

bool operator==(const Structure& a, const Structure& b) {
  return a.kind_ == b.kind_ && a.leaf_index_ == b.leaf_index_ &&
         a.is_number_ == b.is_number_ && a.value_ == b.value_ &&
         a.class_name_ == b.class_name_ && a.keys_ == b.keys_ &&
         a.children_ == b.children_;
}

std::string to_string(const Structure& structure) {
  std::string text;
  draw(structure, "", text);
  text.pop_back();
  return text;
}

}  // namespace modelrun
