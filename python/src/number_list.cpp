// SPDX-License-Identifier: Apache-2.0
#include "number_list.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"

namespace modelrun::python {
namespace {

constexpr std::size_t kMaxRank = 16;

bool is_list(PyObject* object) {
  return PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
}

bool is_number(PyObject* object) {
  return PyLong_CheckExact(object) != 0 || PyFloat_CheckExact(object) != 0 ||
         PyBool_Check(object) != 0;
}

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  // The sizes along the first items; false when they lead to no number.
  bool measure(PyObject* object) {
    nb::object item = nb::borrow(object);
    while (is_list(item.ptr())) {
      const Py_ssize_t size = PySequence_Size(item.ptr());
      if (size <= 0 || shape_.size() == kMaxRank) return false;
      shape_.push_back(size);
      item = checked(PySequence_GetItem(item.ptr(), 0));
    }
    return is_number(item.ptr());
  }

  Tensor read(PyObject* object) {
    fill(object, 0);
    const Shape shape{std::span<const std::int64_t>(shape_)};
    if (floats_ > 0 && bools_ == 0) {
      std::vector<float> values;
      values.reserve(numbers_.size());
      for (const double number : numbers_) {
        values.push_back(static_cast<float>(number));
      }
      return Tensor::from(std::span<const float>(values), shape);
    }
    if (bools_ == 0) {
      return Tensor::from(std::span<const std::int64_t>(integers_), shape);
    }
    if (bools_ != numbers_.size()) {
      throw InvalidType("kwarg '" + std::string(name_) +
                        "' is a list of bools and numbers: expected one kind");
    }
    Tensor tensor = Tensor::empty(DType::bool_, shape);
    const std::span<bool> flags = tensor.data<bool>();
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = integers_[i] != 0;
    return tensor;
  }

 private:
  void fill(PyObject* object, std::size_t axis) {
    if (!is_list(object)) return add(object, axis);
    const Py_ssize_t size = PySequence_Size(object);
    if (axis == shape_.size() || size != shape_[axis]) {
      throw InvalidType("kwarg '" + std::string(name_) +
                        "' is a list of lists that differ in length: pad them "
                        "to one length, with an attention mask");
    }
    for (Py_ssize_t i = 0; i < size; ++i) {
      const nb::object item = checked(PySequence_GetItem(object, i));
      fill(item.ptr(), axis + 1);
    }
  }

  void add(PyObject* object, std::size_t axis) {
    if (axis != shape_.size() || !is_number(object)) {
      throw InvalidType("kwarg '" + std::string(name_) +
                        "' is a list of numbers and of a " +
                        class_name_of(Py_TYPE(object)) +
                        ": expected numbers only, in lists of one length");
    }
    if (PyFloat_Check(object) != 0) {
      ++floats_;
      numbers_.push_back(PyFloat_AsDouble(object));
      integers_.push_back(0);
      return;
    }
    if (PyBool_Check(object) != 0) ++bools_;
    const long long integer = PyLong_AsLongLong(object);
    if (integer == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw InvalidArgument("kwarg '" + std::string(name_) +
                            "' holds an integer past 64 bits");
    }
    integers_.push_back(integer);
    numbers_.push_back(static_cast<double>(integer));
  }

  std::string_view name_;
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> integers_;
  std::vector<double> numbers_;
  std::size_t floats_ = 0;
  std::size_t bools_ = 0;
};

}  // namespace

std::optional<Tensor> read_number_list(std::string_view name,
                                       PyObject* object) {
  if (!is_list(object)) return std::nullopt;
  Reader reader(name);
  if (!reader.measure(object)) return std::nullopt;
  return reader.read(object);
}

}  // namespace modelrun::python
