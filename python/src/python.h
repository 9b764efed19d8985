// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

namespace modelrun::python {

namespace nb = nanobind;

/// A new reference that the C API returned; throws the error that it set.
[[nodiscard]] inline nb::object checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

/// The text of a Python string, which keeps it. Throws for lone surrogates.
[[nodiscard]] inline std::string_view text_of(PyObject* string) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(string, &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

/// What Python's `str` makes of an object.
[[nodiscard]] inline std::string str_of(nb::handle object) {
  const nb::object text = checked(PyObject_Str(object.ptr()));
  return std::string(text_of(text.ptr()));
}

/// An object that lives as long as the process: its destructor would run after
/// the interpreter's end.
template <typename T>
[[nodiscard]] T& immortal() {
  static auto* const instance = new T();
  return *instance;
}

/// `package.module.Class`.
[[nodiscard]] std::string class_name_of(PyTypeObject* type);

/// Whether a class is, or derives from, one of this dotted name.
[[nodiscard]] bool has_base(nb::handle type, std::string_view dotted);

}  // namespace modelrun::python
