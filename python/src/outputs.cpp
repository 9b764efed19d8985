// SPDX-License-Identifier: Apache-2.0
#include "outputs.h"

#include <utility>

#include "errors.h"

namespace modelrun::python {
namespace {

// One object of a call's outputs. Its children are made when they are read,
// and kept.
class OutputsObject {
 public:
  OutputsObject(Value value, Arrays arrays)
      : value_(std::move(value)), arrays_(arrays) {}

  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] std::size_t size() const { return value_.size(); }
  [[nodiscard]] nb::object key(std::size_t i) const {
    const std::string step = value_.structure()->step(i);
    return nb::cast(step);
  }

  nb::object child(std::size_t i) {
    if (!children_.is_valid()) {
      children_ = nb::steal<nb::list>(
          PyList_New(static_cast<Py_ssize_t>(value_.size())));
    }
    PyObject* const list = children_.ptr();
    const auto at = static_cast<Py_ssize_t>(i);
    PyObject* const known = PyList_GetItem(list, at);
    if (known != nullptr) return nb::borrow(known);
    PyErr_Clear();
    nb::object made = to_python(value_[i], arrays_);
    PyList_SetItem(list, at, Py_NewRef(made.ptr()));
    return made;
  }

  // The place of a child by its key; its size when there is none.
  [[nodiscard]] std::size_t find(std::string_view key) const {
    const Structure& node = *value_.structure();
    std::size_t i = 0;
    while (i < node.size() && node.step(i) != key) ++i;
    return i;
  }

  nb::object at(nb::handle key) {
    if (PyUnicode_Check(key.ptr()) != 0) {
      const std::string_view text = text_of(key.ptr());
      const std::size_t i = find(text);
      if (i < size()) return child(i);
      throw nb::key_error(missing(text).c_str());
    }
    if (PySlice_Check(key.ptr()) != 0)
      return checked(PyObject_GetItem(to_tuple().ptr(), key.ptr()));
    Py_ssize_t i = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
    if (i == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    const auto count = static_cast<Py_ssize_t>(size());
    if (i < 0) i += count;
    if (i < 0 || i >= count) {
      throw nb::index_error(("no item " + std::string(nb::repr(key).c_str()) +
                             " among " + std::to_string(count) + " outputs")
                                .c_str());
    }
    return child(static_cast<std::size_t>(i));
  }

  nb::object attribute(std::string_view name) {
    const std::size_t i = find(name);
    if (i < size()) return child(i);
    throw nb::attribute_error(missing(name).c_str());
  }

  [[nodiscard]] nb::list keys() const {
    nb::list list;
    for (std::size_t i = 0; i < size(); ++i) list.append(key(i));
    return list;
  }
  nb::list values() {
    nb::list list;
    for (std::size_t i = 0; i < size(); ++i) list.append(child(i));
    return list;
  }
  nb::list items() {
    nb::list list;
    for (std::size_t i = 0; i < size(); ++i) {
      list.append(nb::make_tuple(key(i), child(i)));
    }
    return list;
  }
  nb::tuple to_tuple() { return nb::tuple(values()); }

  [[nodiscard]] std::string missing(std::string_view name) const {
    try {
      (void)value_.at(name);
    } catch (const NotFound& error) {
      return error.what();
    }
    return "no '" + std::string(name) + "'";
  }

 private:
  Value value_;
  Arrays arrays_;
  nb::list children_ = nb::steal<nb::list>(nb::handle());
};

nb::object get(OutputsObject& self, std::string_view key, nb::object fallback) {
  const std::size_t i = self.find(key);
  return i < self.size() ? self.child(i) : fallback;
}

// The attributes that are data come before the methods: the layer of a cache
// has `keys` and `values`.
PyObject* get_attribute(PyObject* self, PyObject* name) noexcept {
  try {
    auto& outputs = *nb::inst_ptr<OutputsObject>(self);
    if (PyUnicode_Check(name) != 0) {
      const std::size_t i = outputs.find(text_of(name));
      if (i < outputs.size()) return outputs.child(i).release().ptr();
    }
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (found != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) {
      return found;
    }
    PyErr_Clear();
    return outputs.attribute(text_of(name)).release().ptr();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_AttributeError, error.what());
  } catch (...) {
    set_python_error();
  }
  return nullptr;
}

const PyType_Slot kSlots[] = {
    {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)}, {0, nullptr}};

nb::object sequence(const Value& value, Arrays arrays) {
  nb::list items;
  for (std::size_t i = 0; i < value.size(); ++i) {
    items.append(to_python(value[i], arrays));
  }
  if (value.kind() == Structure::Kind::list) return items;
  return nb::tuple(items);
}

nb::object dict(const Value& value, Arrays arrays) {
  nb::dict made;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Structure::Key& key = value.structure()->key(i);
    const nb::object name = std::visit(
        [](const auto& any) { return nb::object(nb::cast(any)); }, key);
    made[name] = to_python(value[i], arrays);
  }
  return made;
}

}  // namespace

const Value* read_outputs(PyObject* object) noexcept {
  const nb::handle type = nb::type<OutputsObject>();
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type.ptr()) {
    return nullptr;
  }
  return &nb::inst_ptr<OutputsObject>(object)->value();
}

nb::object to_python(const Value& value, Arrays arrays) {
  switch (value.kind()) {
    case Structure::Kind::leaf:
      return to_array(value.tensor(), arrays);
    case Structure::Kind::constant:
      return to_python(value.scalar());
    case Structure::Kind::list:
    case Structure::Kind::tuple:
      return sequence(value, arrays);
    case Structure::Kind::dict:
      return dict(value, arrays);
    case Structure::Kind::object:
      break;
  }
  return nb::cast(OutputsObject(value, arrays));
}

nb::object to_mapping(const Value& value, Arrays arrays) {
  return nb::cast(OutputsObject(value, arrays));
}

void register_outputs(nb::module_& module) {
  nb::class_<OutputsObject>(
      module, "Outputs", nb::type_slots(kSlots),
      "The outputs of a call, or an object within them, read by attribute, key "
      "or position. It can be passed to the next call as it is.")
      .def("__getitem__", &OutputsObject::at, nb::arg("key"),
           nb::sig("def __getitem__(self, key: str | int | slice, /) -> "
                   "typing.Any"))
      .def("__len__", &OutputsObject::size)
      .def("__contains__",
           [](const OutputsObject& self, nb::handle key) {
             return PyUnicode_Check(key.ptr()) != 0 &&
                    self.find(text_of(key.ptr())) < self.size();
           })
      .def(
          "__iter__",
          [](const OutputsObject& self) { return nb::iter(self.keys()); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def("__dir__", &OutputsObject::keys,
           nb::sig("def __dir__(self) -> list[str]"))
      .def("keys", &OutputsObject::keys, nb::sig("def keys(self) -> list[str]"))
      .def("values", &OutputsObject::values,
           nb::sig("def values(self) -> list[typing.Any]"))
      .def("items", &OutputsObject::items,
           nb::sig("def items(self) -> list[tuple[str, typing.Any]]"))
      .def("get", &get, nb::arg("key"), nb::arg("default") = nb::none(),
           nb::sig("def get(self, key: str, default: typing.Any = None) -> "
                   "typing.Any"))
      .def("to_tuple", &OutputsObject::to_tuple,
           nb::sig("def to_tuple(self) -> tuple[typing.Any, ...]"),
           "The outputs in the source model's order.")
      .def_prop_ro(
          "class_name",
          [](const OutputsObject& self) { return self.value().class_name(); },
          "The source model's own class, as 'module.Class'.")
      .def(
          "__reduce__",
          [](const OutputsObject&) {
            throw InvalidType(
                "modelrun.Outputs cannot be pickled: pickle the arrays, such "
                "as those of its method to_tuple()");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"))
      .def("__repr__",
           [](const OutputsObject& self) { return to_string(self.value()); });
}

}  // namespace modelrun::python
