// SPDX-License-Identifier: Apache-2.0
#include "modelrun/value.h"

#include <algorithm>
#include <new>
#include <optional>
#include <type_traits>

#include "core/frame.h"
#include "core/map_leaves.h"
#include "core/nearest.h"
#include "modelrun/error.h"

namespace modelrun {
namespace detail {
namespace {

// The number in a tensor: of none, of several and of those on a device, the
// tensor is the value.
std::optional<Scalar> number_in(const Tensor& tensor) {
  const bool is_read = tensor.defined() && tensor.element_count() == 1 &&
                       tensor.device().type == DeviceType::cpu;
  if (!is_read) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::bool_:
      return tensor.item<bool>();
    case DType::int32:
      return std::int64_t{tensor.item<std::int32_t>()};
    case DType::int64:
      return tensor.item<std::int64_t>();
    case DType::float32:
      return double{tensor.item<float>()};
    case DType::float64:
      return tensor.item<double>();
    default:
      return std::nullopt;
  }
}

Value value_of(const Structure& leaf, const Tensor& tensor) {
  if (!leaf.is_number()) return tensor;
  auto number = number_in(tensor);
  return number ? Value(*std::move(number)) : Value(tensor);
}

static_assert(alignof(Tensor) <= alignof(std::max_align_t));
static_assert(sizeof(Frame) % alignof(Tensor) == 0);

// Makes allocate_shared reserve room for the tensors behind the frame, so that
// the control block, the frame and its tensors are one allocation.
template <typename T>
struct TrailingAllocator {
  using value_type = T;
  std::size_t trailing;

  explicit TrailingAllocator(std::size_t bytes) noexcept : trailing(bytes) {}
  template <typename U>
  TrailingAllocator(const TrailingAllocator<U>& other) noexcept
      : trailing(other.trailing) {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T) + trailing));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p); }
  template <typename U>
  bool operator==(const TrailingAllocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace

Frame::Frame(std::shared_ptr<const Structure> structure,
             std::size_t size) noexcept
    : structure_(std::move(structure)), size_(size) {
  for (std::size_t i = 0; i < size_; ++i) new (slots() + i) Tensor();
}

Frame::~Frame() { std::destroy_n(slots(), size_); }

std::shared_ptr<Frame> Frame::create(std::shared_ptr<const Structure> structure,
                                     std::size_t size) {
  return std::allocate_shared<Frame>(TrailingAllocator<Frame>(slot_bytes(size)),
                                     std::move(structure), size);
}

const Frame* Frame::of(const Value& value) noexcept {
  const auto* nested = std::get_if<Value::Nested>(&value.data_);
  return nested != nullptr ? nested->frame.get() : nullptr;
}

Value Frame::root(std::shared_ptr<const Frame> frame) {
  const Structure& node = frame->structure();
  if (node.is_constant()) return Value(node.value());
  if (node.is_leaf())
    return value_of(node, frame->tensors()[node.leaf_index()]);
  return Value(Value::Nested{std::move(frame), &node});
}

}  // namespace detail

namespace {

using detail::Frame;

// The largest slot that a leaf of this tree is in; empty without leaves.
std::optional<std::size_t> last_slot(const Structure& structure) {
  if (structure.is_leaf()) return structure.leaf_index();
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < structure.size(); ++i) {
    last = std::max(last, last_slot(structure.child(i)));
  }
  return last;
}

// Copies a value's structure with its leaves renumbered from tensors.size(),
// and appends the tensors.
Structure flatten_into(const Value& value, std::vector<Tensor>& tensors) {
  if (value.is_scalar()) return Structure::constant(value.scalar());
  const auto append = [&tensors](const Tensor& tensor) {
    tensors.push_back(tensor);
    return Structure::leaf(tensors.size() - 1);
  };
  if (value.is_tensor()) return append(value.tensor());
  const std::span<const Tensor> slots = value.slots();
  return map_leaves(*value.structure(), [&](const Structure& leaf) {
    const Value inner = detail::value_of(leaf, slots[leaf.leaf_index()]);
    return inner.is_scalar() ? Structure::constant(inner.scalar())
                             : append(inner.tensor());
  });
}

std::string_view kind_name(const Value& value) {
  if (value.is_tensor()) return "a tensor";
  if (value.is_none()) return "None";
  if (value.is_scalar()) return "a scalar";
  return value.class_name();
}

// How far a path leads below `node`, and what there is instead of its rest: the
// end of a NotFound message.
std::string what_it_has(const Structure* node, std::string_view path) {
  if (node == nullptr) return "";
  std::string_view rest = path;
  std::size_t dot = rest.find('.');
  while (dot != std::string_view::npos) {
    const Structure* child = node->find(rest.substr(0, dot));
    const bool leads_on = child != nullptr && child->size() > 0;
    if (leads_on) {
      node = child;
      rest.remove_prefix(dot + 1);
    }
    dot = rest.find('.', leads_on ? 0 : dot + 1);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node->size(); ++i) names.push_back(node->step(i));
  std::string text;
  if (rest.size() < path.size()) {
    text = ": '" + std::string(path.substr(0, path.size() - rest.size() - 1)) +
           "' has no '" + std::string(rest) + "'";
  }
  text += did_you_mean(rest, names);
  if (!names.empty()) text += " (it has " + quoted_list(names) + ")";
  return text;
}

void draw(const Value& value, const std::string& indent, std::string& text) {
  if (value.is_tensor()) {
    text += to_string(value.tensor()) + "\n";
    return;
  }
  if (value.is_scalar()) {
    text += to_string(value.scalar()) + "\n";
    return;
  }
  const std::string_view whole = value.class_name();
  text += std::string(whole.substr(whole.rfind('.') + 1)) + "\n";
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool last = i + 1 == value.size();
    text +=
        indent + (last ? "└── " : "├── ") + value.structure()->step(i) + ": ";
    draw(value[i], indent + (last ? "    " : "│   "), text);
  }
}

}  // namespace

Value::Value(std::shared_ptr<const Structure> structure,
             std::vector<Tensor> tensors) {
  if (structure == nullptr) throw InvalidArgument("a value needs a structure");
  const auto last = last_slot(*structure);
  if (last && *last >= tensors.size()) {
    throw InvalidArgument("a structure with a leaf in slot " +
                          std::to_string(*last) + " was given " +
                          std::to_string(tensors.size()) + " tensors");
  }
  auto frame = Frame::create(std::move(structure), tensors.size());
  std::move(tensors.begin(), tensors.end(), frame->tensors().begin());
  *this = Frame::root(std::move(frame));
}

Value Value::mapping(std::vector<std::pair<std::string, Value>> entries,
                     std::string class_name) {
  std::vector<Tensor> tensors;
  std::vector<Structure::Entry> nodes;
  for (auto& [key, value] : entries) {
    nodes.push_back({std::move(key), flatten_into(value, tensors)});
  }
  return {std::make_shared<const Structure>(
              Structure::dict(std::move(nodes), std::move(class_name))),
          std::move(tensors)};
}

Value Value::sequence(std::vector<Value> items, std::string class_name) {
  std::vector<Tensor> tensors;
  std::vector<Structure> nodes;
  for (const Value& item : items) nodes.push_back(flatten_into(item, tensors));
  return {std::make_shared<const Structure>(
              Structure::list(std::move(nodes), std::move(class_name))),
          std::move(tensors)};
}

Structure::Kind Value::kind() const noexcept {
  if (is_tensor()) return Structure::Kind::leaf;
  if (is_scalar()) return Structure::Kind::constant;
  return std::get<Nested>(data_).node->kind();
}

bool Value::is_none() const noexcept {
  const auto* scalar = std::get_if<Scalar>(&data_);
  return scalar != nullptr && std::holds_alternative<std::monostate>(*scalar);
}

bool Value::is_tensor() const noexcept {
  return std::holds_alternative<Tensor>(data_);
}

bool Value::is_scalar() const noexcept {
  return std::holds_alternative<Scalar>(data_);
}

bool Value::is_nested() const noexcept {
  return std::holds_alternative<Nested>(data_);
}

const Tensor& Value::tensor() const {
  if (const auto* tensor = std::get_if<Tensor>(&data_)) return *tensor;
  throw InvalidArgument("expected a tensor, got " +
                        std::string(kind_name(*this)));
}

const Scalar& Value::scalar() const {
  if (const auto* scalar = std::get_if<Scalar>(&data_)) return *scalar;
  throw InvalidArgument("expected a scalar, got " +
                        std::string(kind_name(*this)));
}

template <typename T>
T Value::as() const {
  const Scalar& value = scalar();
  if (const T* exact = std::get_if<T>(&value)) return *exact;
  if constexpr (std::is_same_v<T, double>) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      return static_cast<double>(*integer);
    }
  }
  constexpr std::string_view wanted = std::is_same_v<T, bool>     ? "a bool"
                                      : std::is_same_v<T, double> ? "a float"
                                      : std::is_same_v<T, std::int64_t>
                                          ? "an int"
                                          : "a string";
  throw InvalidArgument("expected " + std::string(wanted) + ", got " +
                        to_string(value));
}

template bool Value::as<bool>() const;
template std::int64_t Value::as<std::int64_t>() const;
template double Value::as<double>() const;
template std::string Value::as<std::string>() const;

std::string_view Value::class_name() const noexcept {
  const auto* nested = std::get_if<Nested>(&data_);
  return nested != nullptr ? std::string_view(nested->node->class_name())
                           : std::string_view();
}

std::size_t Value::size() const noexcept {
  const auto* nested = std::get_if<Nested>(&data_);
  return nested != nullptr ? nested->node->size() : 0;
}

std::vector<std::string> Value::keys() const {
  std::vector<std::string> keys;
  if (const auto* nested = std::get_if<Nested>(&data_)) {
    for (std::size_t i = 0; i < nested->node->size(); ++i) {
      keys.push_back(nested->node->step(i));
    }
  }
  return keys;
}

Value Value::child(const Structure& node) const {
  const auto& nested = std::get<Nested>(data_);
  if (node.is_leaf()) {
    return detail::value_of(node, nested.frame->tensors()[node.leaf_index()]);
  }
  if (node.is_constant()) return node.value();
  return Value(Nested{nested.frame, &node});
}

Value Value::at(std::string_view path) const {
  const auto* nested = std::get_if<Nested>(&data_);
  if (nested != nullptr) {
    if (const Structure* node = nested->node->find_path(path)) {
      return child(*node);
    }
  }
  throw NotFound("no '" + std::string(path) + "' in " +
                 std::string(kind_name(*this)) +
                 what_it_has(structure(), path));
}

Value Value::operator[](std::size_t i) const {
  const auto* nested = std::get_if<Nested>(&data_);
  if (nested != nullptr && i < nested->node->size()) {
    return child(nested->node->child(i));
  }
  // An int that was negative is written as it came.
  throw NotFound("no item " + std::to_string(static_cast<std::ptrdiff_t>(i)) +
                 " in " + std::string(kind_name(*this)) + " of " +
                 std::to_string(size()));
}

bool Value::contains(std::string_view path) const noexcept {
  const auto* nested = std::get_if<Nested>(&data_);
  return nested != nullptr && nested->node->find_path(path) != nullptr;
}

std::vector<std::pair<std::string, Tensor>> Value::leaves() const {
  std::vector<std::pair<std::string, Tensor>> leaves;
  if (const auto* tensor = std::get_if<Tensor>(&data_)) {
    leaves.emplace_back("", *tensor);
  } else if (const auto* nested = std::get_if<Nested>(&data_)) {
    nested->node->for_each_leaf(
        "", [&](const std::string& path, const Structure& leaf) {
          const Tensor& tensor = slots()[leaf.leaf_index()];
          if (detail::value_of(leaf, tensor).is_scalar()) return;
          leaves.emplace_back(path, tensor);
        });
  }
  return leaves;
}

const Structure* Value::structure() const noexcept {
  const auto* nested = std::get_if<Nested>(&data_);
  return nested != nullptr ? nested->node : nullptr;
}

std::span<const Tensor> Value::slots() const noexcept {
  const auto* nested = std::get_if<Nested>(&data_);
  if (nested == nullptr) return {};
  return nested->frame->tensors();
}

Value::Iterator Value::begin() const noexcept { return {this, 0}; }
Value::Iterator Value::end() const noexcept { return {this, size()}; }

void Value::throw_out_of_range() {
  throw InvalidArgument("an integer past 2^63 - 1 has no value type");
}

std::string to_string(const Value& value) {
  std::string text;
  draw(value, "", text);
  text.pop_back();
  return text;
}

}  // namespace modelrun
