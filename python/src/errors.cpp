// SPDX-License-Identifier: Apache-2.0
#include "errors.h"

#include <exception>
#include <initializer_list>
#include <new>

namespace modelrun::python {
namespace {

struct Classes {
  nb::object error;
  nb::object invalid_argument;
  nb::object invalid_type;
  nb::object not_found;
  nb::object unsupported;
  nb::object backend_error;
};

nb::object make_class(nb::module_& module, const char* name, const char* doc,
                      std::initializer_list<PyObject*> bases) {
  nb::object tuple =
      checked(PyTuple_New(static_cast<Py_ssize_t>(bases.size())));
  Py_ssize_t i = 0;
  for (PyObject* base : bases) {
    Py_INCREF(base);
    PyTuple_SetItem(tuple.ptr(), i++, base);
  }
  const std::string full = std::string("modelrun.") + name;
  nb::object made = checked(
      PyErr_NewExceptionWithDoc(full.c_str(), doc, tuple.ptr(), nullptr));
  module.attr(name) = made;
  return made;
}

void set_error(const nb::object& type, const std::exception& error) {
  PyErr_SetString(type.ptr(), error.what());
}

}  // namespace

void set_python_error() noexcept {
  const Classes& classes = immortal<Classes>();
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    set_error(nb::borrow(PyExc_RuntimeError), error);
  } catch (const InvalidType& error) {
    set_error(classes.invalid_type, error);
  } catch (const InvalidArgument& error) {
    set_error(classes.invalid_argument, error);
  } catch (const NotFound& error) {
    set_error(classes.not_found, error);
  } catch (const Unsupported& error) {
    set_error(classes.unsupported, error);
  } catch (const BackendError& error) {
    set_error(classes.backend_error, error);
  } catch (const Error& error) {
    set_error(classes.error, error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    set_error(nb::borrow(PyExc_RuntimeError), error);
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

void register_errors(nb::module_& module) {
  Classes& classes = immortal<Classes>();
  classes.error = make_class(module, "Error",
                             "The root of everything that modelrun raises.",
                             {PyExc_Exception});
  PyObject* const root = classes.error.ptr();
  classes.invalid_argument =
      make_class(module, "InvalidArgument",
                 "A value, option or file content that the call cannot accept.",
                 {root, PyExc_ValueError});
  classes.invalid_type = make_class(
      module, "InvalidType",
      "An object of a kind, or an option, that the call does not take.",
      {root, PyExc_TypeError});
  classes.not_found = make_class(
      module, "NotFound",
      "A file, component, key, backend or runtime that is not there.",
      {root, PyExc_FileNotFoundError});
  classes.unsupported = make_class(
      module, "Unsupported",
      "Something legal that this build, backend or runtime cannot do.",
      {root, PyExc_NotImplementedError});
  classes.backend_error =
      make_class(module, "BackendError",
                 "A failure inside a runtime, with the runtime's own words.",
                 {root, PyExc_RuntimeError});
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      set_python_error();
    }
  });
}

}  // namespace modelrun::python
