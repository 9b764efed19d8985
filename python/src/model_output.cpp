// SPDX-License-Identifier: Apache-2.0
#include "model_output.h"

#include <algorithm>
#include <utility>

namespace modelrun::python {
namespace {

// Whether both hold the same objects under the same names, in the same order.
bool same_content(const nb::object& a, const nb::object& b) {
  const nb::object ordered =
      nb::module_::import_("collections").attr("OrderedDict");
  const auto same_items = [](const nb::object& x, const nb::object& y) {
    if (nb::len(x) != nb::len(y)) return false;
    for (std::size_t i = 0; i < nb::len(x); ++i) {
      const nb::object left = x[i];
      const nb::object right = y[i];
      const bool same = left[0].equal(right[0]) && left[1].is(right[1]);
      if (!same) return false;
    }
    return true;
  };
  const auto items_of = [&ordered](const nb::object& of) {
    return nb::object(nb::list(ordered.attr("items")(of)));
  };
  const auto attributes_of = [](const nb::object& of) {
    return nb::object(nb::list(of.attr("__dict__").attr("items")()));
  };
  const auto sorted = [](const nb::object& items) {
    nb::list list(items);
    nb::dict dict;
    for (nb::handle item : list) dict[item[0]] = item[1];
    nb::list keys(dict.keys());
    keys.attr("sort")();
    nb::list made;
    for (nb::handle key : keys) made.append(nb::make_tuple(key, dict[key]));
    return nb::object(made);
  };
  return same_items(items_of(a), items_of(b)) &&
         same_items(sorted(attributes_of(a)), sorted(attributes_of(b)));
}

}  // namespace

nb::object new_instance(nb::handle type) {
  auto* const python_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  const auto make =
      reinterpret_cast<newfunc>(PyType_GetSlot(python_type, Py_tp_new));
  static PyObject* const no_arguments = PyTuple_New(0);
  return checked(make(python_type, no_arguments, nullptr));
}

ModelOutputClass::ModelOutputClass(nb::object type,
                                   std::vector<nb::object> keys)
    : type_(std::move(type)), keys_(std::move(keys)) {
  set_item_ = nb::module_::import_("collections")
                  .attr("OrderedDict")
                  .attr("__setitem__");
  const nb::object fields = nb::module_::import_("dataclasses").attr("fields");
  for (nb::handle field : fields(type_)) {
    nb::object name = field.attr("name");
    const bool is_set =
        std::any_of(keys_.begin(), keys_.end(),
                    [&name](const nb::object& key) { return key.equal(name); });
    if (!is_set) unset_.push_back(std::move(name));
  }
}

nb::object ModelOutputClass::build(const std::vector<nb::object>& values) {
  if (way_ == Way::fast) return assemble(values);
  nb::object made = construct(values);
  if (way_ == Way::unknown) {
    way_ = same_content(made, assemble(values)) ? Way::fast : Way::constructor;
  }
  return made;
}

nb::object ModelOutputClass::construct(
    const std::vector<nb::object>& values) const {
  nb::dict fields;
  for (std::size_t i = 0; i < keys_.size(); ++i) fields[keys_[i]] = values[i];
  return type_(**fields);
}

nb::object ModelOutputClass::assemble(
    const std::vector<nb::object>& values) const {
  nb::object made = new_instance(type_);
  const nb::object attributes =
      checked(PyObject_GenericGetDict(made.ptr(), nullptr));
  const auto set = [&attributes](const nb::object& key, PyObject* value) {
    if (PyDict_SetItem(attributes.ptr(), key.ptr(), value) != 0) {
      throw nb::python_error();
    }
  };
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    set(keys_[i], values[i].ptr());
    if (values[i].is_none()) continue;
    PyObject* const arguments[] = {nullptr, made.ptr(), keys_[i].ptr(),
                                   values[i].ptr()};
    (void)checked(PyObject_Vectorcall(set_item_.ptr(), arguments + 1,
                                      3 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                      nullptr));
  }
  for (const nb::object& key : unset_) set(key, Py_None);
  return made;
}

}  // namespace modelrun::python
