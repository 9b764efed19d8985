// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include "errors.h"

namespace modelrun::python {
namespace {

bool read_flag(const char* name, PyObject* value) {
  if (PyBool_Check(value) != 0) return value == Py_True;
  throw InvalidType(std::string(name) + " is a " +
                    class_name_of(Py_TYPE(value)) + ", expected True or False");
}

Arrays arrays_named(PyObject* value) {
  const std::string_view name =
      PyUnicode_Check(value) != 0 ? text_of(value) : std::string_view();
  if (name == "torch") return Arrays::torch;
  if (name == "numpy") return Arrays::numpy;
  if (name == "dlpack") return Arrays::dlpack;
  throw InvalidArgument("return_type is " +
                        std::string(nb::repr(nb::handle(value)).c_str()) +
                        ", expected 'torch', 'numpy' or 'dlpack'");
}

}  // namespace

TracedKwargs::TracedKwargs(const ExportedModel& model) {
  any_ = true;
  if (model.components().size() != 1) return;
  const auto structure = model.program().input_structure;
  if (structure == nullptr) return;
  any_ = false;
  for (std::size_t i = 0; i < structure->size(); ++i) {
    names_.insert(structure->step(i));
  }
}

void Arguments::read(PyObject* args, PyObject* kwargs) {
  if (kwargs != nullptr) {
    kwargs_.reserve(static_cast<std::size_t>(PyDict_Size(kwargs)));
  }
  if (PyTuple_Size(args) != 0) read_positional(args);
  if (kwargs == nullptr) return;
  Py_ssize_t at = 0;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  // The dict is this call's own: nobody changes it meanwhile.
  while (PyDict_Next(kwargs, &at, &name, &value) != 0) add(name, value);
}

void Arguments::read_positional(PyObject* args) {
  const Py_ssize_t size = PyTuple_Size(args);
  Py_ssize_t next = 0;
  PyObject* const first = PyTuple_GetItem(args, 0);
  const bool is_mapping =
      PyDict_Check(first) != 0 || (PyMapping_Check(first) != 0 &&
                                   PyObject_HasAttrString(first, "keys") != 0);
  if (is_mapping) {
    add_all(first);
    ++next;
  }
  if (next < size && !is_mapping &&
      PyBool_Check(PyTuple_GetItem(args, next)) == 0) {
    throw InvalidType(
        "a call takes its inputs by name, or as one mapping: got a " +
        class_name_of(Py_TYPE(first)) +
        " in the first place; write model(input_ids=...), or model(encoding)");
  }
  if (next < size) {
    share_inputs_ = read_flag("share_inputs", PyTuple_GetItem(args, next++));
  }
  if (next < size) {
    share_outputs_ = read_flag("share_outputs", PyTuple_GetItem(args, next++));
  }
  if (next < size) {
    throw InvalidType(
        "a call takes at most a mapping, share_inputs and "
        "share_outputs by position, got " +
        std::to_string(size) + " arguments");
  }
}

void Arguments::add_all(PyObject* mapping) {
  nb::dict copy;
  if (PyDict_Merge(copy.ptr(), mapping, 1) != 0) throw nb::python_error();
  held_.emplace_back(copy);
  for (const auto& [name, value] : copy) {
    if (PyUnicode_Check(name.ptr()) == 0) {
      throw InvalidType("a mapping of kwargs has a key of type " +
                        class_name_of(Py_TYPE(name.ptr())) +
                        ": expected strings");
    }
    add(name.ptr(), value.ptr());
  }
}

bool Arguments::read_option(std::string_view name, PyObject* value) {
  if (name == "share_inputs") {
    share_inputs_ = read_flag("share_inputs", value);
  } else if (name == "share_outputs") {
    share_outputs_ = read_flag("share_outputs", value);
  } else if (name == "return_type") {
    if (value == Py_None) return true;
    asked_ = arrays_named(value);
    require_package(*asked_);
  } else {
    return false;
  }
  return true;
}

void Arguments::add(PyObject* name, PyObject* value) {
  const std::string_view text = text_of(name);
  if (auto tensor = read_tensor(value, &seen_)) {
    kwargs_.push_back({text, Value(*std::move(tensor))});
  } else if (!read_option(text, value)) {
    const std::string_view head = text.substr(0, text.find('.'));
    // What the export was not traced with is dropped, whatever it is: the name
    // is passed on for the warning.
    const bool dropped =
        value != Py_None && !traced_.contains(head) && !traced_.contains(text);
    kwargs_.push_back(
        {text, dropped ? Value(true) : reader_.read(text, value, seen_)});
  }
}

Arrays Arguments::arrays() const {
  if (asked_) return *asked_;
  switch (seen_) {
    case Framework::torch:
      return Arrays::torch;
    case Framework::numpy:
      return Arrays::numpy;
    case Framework::dlpack:
      return Arrays::dlpack;
    case Framework::none:
      break;
  }
  return is_installed("numpy") ? Arrays::numpy : Arrays::dlpack;
}

}  // namespace modelrun::python
