// SPDX-License-Identifier: Apache-2.0
#include "object_reader.h"

#include <cstdint>
#include <utility>

#include "errors.h"
#include "number_list.h"
#include "outputs.h"

namespace modelrun::python {
namespace {

constexpr int kMaxDepth = 32;

// How the children of an object are reached.
enum class Nest { none, sequence, mapping, attributes };

bool is_output_class(PyTypeObject* type) {
  return PyType_IsSubtype(type, &PyDict_Type) != 0 &&
         PyObject_HasAttrString(reinterpret_cast<PyObject*>(type),
                                "to_tuple") != 0;
}

// The dict of an object's attributes; null for what has none or is code.
nb::object attributes_of(PyObject* object) {
  if (PyType_Check(object) != 0 || PyModule_Check(object) != 0 ||
      PyCallable_Check(object) != 0) {
    return {};
  }
  PyObject* const found = PyObject_GetAttrString(object, "__dict__");
  if (found == nullptr) {
    PyErr_Clear();
    return {};
  }
  nb::object attributes = nb::steal(found);
  return PyDict_Check(found) != 0 ? attributes : nb::object();
}

// The children of one object, as (key, child) in order.
struct Children {
  Nest nest = Nest::none;
  /// A list, tuple or dict.
  nb::object container;
};

Children children_of(PyObject* object) {
  if (PyList_Check(object) != 0 || PyTuple_Check(object) != 0) {
    return {Nest::sequence, nb::borrow(object)};
  }
  if (PyDict_Check(object) != 0) return {Nest::mapping, nb::borrow(object)};
  // A mapping that is no dict, such as collections.UserDict.
  if (PyObject_HasAttrString(object, "keys") != 0 &&
      PyMapping_Check(object) != 0) {
    nb::dict copy;
    if (PyDict_Merge(copy.ptr(), object, 1) != 0) throw nb::python_error();
    return {Nest::mapping, std::move(copy)};
  }
  nb::object attributes = attributes_of(object);
  if (!attributes.is_valid()) return {};
  return {Nest::attributes, std::move(attributes)};
}

Structure::Key key_of(std::string_view name, PyObject* key) {
  if (PyUnicode_Check(key) != 0) return std::string(text_of(key));
  if (PyLong_Check(key) != 0) {
    const long long number = PyLong_AsLongLong(key);
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return std::int64_t{number};
  }
  throw InvalidType("kwarg '" + std::string(name) + "' has a key of type " +
                    class_name_of(Py_TYPE(key)) +
                    ": expected strings and integers");
}

bool key_is(const Structure::Key& key, PyObject* object) {
  if (const auto* text = std::get_if<std::string>(&key)) {
    return PyUnicode_Check(object) != 0 && text_of(object) == *text;
  }
  if (PyLong_Check(object) == 0) return false;
  const long long number = PyLong_AsLongLong(object);
  if (number == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
  return number == std::get<std::int64_t>(key);
}

// Calls `visit(key, child)`; key is null for a sequence. Stops at false.
template <typename Visit>
bool each_child(const Children& children, Visit&& visit) {
  PyObject* const container = children.container.ptr();
  if (children.nest != Nest::sequence) {
    // A copy: reading a child may run code that changes the dict.
    const nb::object items = checked(PyDict_Items(container));
    const Py_ssize_t size = PyList_Size(items.ptr());
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* const item = PyList_GetItem(items.ptr(), i);
      if (!visit(PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1))) {
        return false;
      }
    }
    return true;
  }
  const bool is_list = PyList_Check(container) != 0;
  const Py_ssize_t size = PySequence_Size(container);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* const item =
        is_list ? PyList_GetItem(container, i) : PyTuple_GetItem(container, i);
    // It has become shorter meanwhile.
    if (item == nullptr) throw nb::python_error();
    const nb::object held = nb::borrow(item);
    if (!visit(nullptr, held.ptr())) return false;
  }
  return true;
}

std::size_t count_of(const Children& children) {
  return static_cast<std::size_t>(PyObject_Size(children.container.ptr()));
}

// ---- Matching a structure that is known -------------------------------------

class KnownWalk {
 public:
  KnownWalk(Framework& seen, std::vector<Tensor>& tensors)
      : seen_(seen), tensors_(tensors) {}

  bool match(PyObject* object, const Structure& node, int depth) {
    if (node.is_leaf()) return match_leaf(object, node);
    if (node.is_constant()) return match_constant(object, node);
    if (depth > kMaxDepth || read_outputs(object) != nullptr) return false;
    const Children children = children_of(object);
    if (children.nest == Nest::none || count_of(children) != node.size() ||
        (children.nest == Nest::sequence) != is_sequence(node)) {
      return false;
    }
    std::size_t i = 0;
    return each_child(children, [&](PyObject* key, PyObject* child) {
      if (i >= node.size()) return false;
      if (key != nullptr && !key_is(node.key(i), key)) return false;
      return match(child, node.child(i++), depth + 1);
    });
  }

 private:
  static bool is_sequence(const Structure& node) {
    return node.kind() == Structure::Kind::list ||
           node.kind() == Structure::Kind::tuple;
  }

  bool match_leaf(PyObject* object, const Structure& node) {
    if (node.leaf_index() != tensors_.size()) return false;
    auto tensor = read_tensor(object, &seen_);
    if (!tensor) return false;
    tensors_.push_back(*std::move(tensor));
    return true;
  }

  // Flags choose a program; counters and names are not read.
  static bool match_constant(PyObject* object, const Structure& node) {
    const Scalar& value = node.value();
    if (const auto* flag = std::get_if<bool>(&value)) {
      return object == (*flag ? Py_True : Py_False);
    }
    if (std::holds_alternative<std::monostate>(value)) {
      return object == Py_None || children_of(object).nest == Nest::none;
    }
    return PyBool_Check(object) == 0 && read_scalar(object).has_value();
  }

  Framework& seen_;
  std::vector<Tensor>& tensors_;
};

// ---- Building a structure ---------------------------------------------------

class Builder {
 public:
  Builder(std::string_view name, Framework& seen, std::vector<Tensor>& tensors)
      : name_(name), seen_(seen), tensors_(tensors) {}

  Structure build(PyObject* object, int depth) {
    if (depth > kMaxDepth) {
      throw InvalidType("kwarg '" + std::string(name_) +
                        "' is nested more than " + std::to_string(kMaxDepth) +
                        " levels deep");
    }
    if (const Value* value = read_outputs(object)) return copy(*value);
    if (auto scalar = read_scalar(object)) {
      return Structure::constant(*std::move(scalar));
    }
    if (auto tensor = read_tensor(object, &seen_)) return leaf(*tensor);
    const Children children = children_of(object);
    // A dtype, a device, a function: nothing that a program reads.
    if (children.nest == Nest::none) return Structure::constant({});
    return nest(object, children, depth);
  }

 private:
  Structure leaf(const Tensor& tensor) {
    tensors_.push_back(tensor);
    return Structure::leaf(tensors_.size() - 1);
  }

  Structure nest(PyObject* object, const Children& children, int depth) {
    const std::string class_name = class_name_of(Py_TYPE(object));
    std::vector<Structure> items;
    std::vector<Structure::Entry> entries;
    each_child(children, [&](PyObject* key, PyObject* child) {
      if (key == nullptr) {
        items.push_back(build(child, depth + 1));
      } else {
        entries.push_back({key_of(name_, key), build(child, depth + 1)});
      }
      return true;
    });
    if (children.nest == Nest::sequence) {
      return PyList_Check(object) != 0
                 ? Structure::list(std::move(items), class_name)
                 : Structure::tuple(std::move(items), class_name);
    }
    const bool named =
        children.nest == Nest::attributes || is_output_class(Py_TYPE(object));
    return named ? Structure::object(class_name, std::move(entries))
                 : Structure::dict(std::move(entries), class_name);
  }

  // A value of an earlier call within a nest.
  Structure copy(const Value& value) {
    if (value.is_scalar()) return Structure::constant(value.scalar());
    if (value.is_tensor()) return leaf(value.tensor());
    const Structure& node = *value.structure();
    std::vector<Structure> items;
    std::vector<Structure::Entry> entries;
    for (std::size_t i = 0; i < node.size(); ++i) {
      Structure child = copy(value[i]);
      if (node.kind() == Structure::Kind::list ||
          node.kind() == Structure::Kind::tuple) {
        items.push_back(std::move(child));
      } else {
        entries.push_back({node.key(i), std::move(child)});
      }
    }
    switch (node.kind()) {
      case Structure::Kind::list:
        return Structure::list(std::move(items), node.class_name());
      case Structure::Kind::tuple:
        return Structure::tuple(std::move(items), node.class_name());
      case Structure::Kind::dict:
        return Structure::dict(std::move(entries), node.class_name());
      default:
        return Structure::object(node.class_name(), std::move(entries));
    }
  }

  std::string_view name_;
  Framework& seen_;
  std::vector<Tensor>& tensors_;
};

[[noreturn]] void refuse(std::string_view name, PyObject* object) {
  throw InvalidType("kwarg '" + std::string(name) + "' is a " +
                    class_name_of(Py_TYPE(object)) +
                    ": expected a tensor of torch, numpy or DLPack, a number, "
                    "a list of numbers, or a nest of tensors");
}

}  // namespace

std::optional<Scalar> read_scalar(PyObject* object) {
  if (object == Py_None) return Scalar(std::monostate{});
  if (PyBool_Check(object) != 0) return Scalar(object == Py_True);
  if (PyLong_CheckExact(object) != 0) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) {
      throw InvalidArgument("an integer past 64 bits cannot be passed");
    }
    return Scalar(std::int64_t{number});
  }
  if (PyFloat_CheckExact(object) != 0) {
    return Scalar(PyFloat_AsDouble(object));
  }
  if (PyUnicode_Check(object) != 0) {
    return Scalar(std::string(text_of(object)));
  }
  return std::nullopt;
}

Value ObjectReader::read(std::string_view name, PyObject* object,
                         Framework& seen) {
  if (auto tensor = read_tensor(object, &seen)) return *std::move(tensor);
  if (const Value* value = read_outputs(object)) return *value;
  if (auto scalar = read_scalar(object)) return Value(*std::move(scalar));
  if (auto tensor = read_number_list(name, object)) return *std::move(tensor);
  return read_nest(name, object, seen);
}

std::optional<Value> ObjectReader::read_known(std::string_view name,
                                              PyObject* object,
                                              Framework& seen) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return std::nullopt;
  // A copy: reading attributes may run code that calls this model.
  const Structures structures = found->second;
  for (const auto& structure : structures) {
    std::vector<Tensor> tensors;
    tensors.reserve(structure->leaf_count());
    if (KnownWalk(seen, tensors).match(object, *structure, 0)) {
      return Value(structure, std::move(tensors));
    }
  }
  return std::nullopt;
}

Value ObjectReader::read_nest(std::string_view name, PyObject* object,
                              Framework& seen) {
  if (children_of(object).nest == Nest::none) refuse(name, object);
  if (auto value = read_known(name, object, seen)) return *std::move(value);
  std::vector<Tensor> tensors;
  auto structure = std::make_shared<const Structure>(
      Builder(name, seen, tensors).build(object, 0));
  Structures& known = known_[std::string(name)];
  if (known.size() == kKept) known.erase(known.begin());
  known.push_back(structure);
  return {std::move(structure), std::move(tensors)};
}

}  // namespace modelrun::python
