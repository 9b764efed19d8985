// SPDX-License-Identifier: Apache-2.0
#include "array_output.h"

#include <array>
#include <variant>

#include "dlpack/dlpack.h"
#include "errors.h"
#include "tensor_input.h"

namespace modelrun::python {
namespace {

nb::object import_package(const char* package, const char* why) {
  try {
    return nb::module_::import_(package);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    throw NotFound(std::string(package) + " is not installed, and " + why +
                   ": add it with 'pip install " + package +
                   "', or pass return_type='dlpack'");
  }
}

// What making an array needs of numpy, looked up once.
struct Numpy {
  nb::object array_class;
  nb::object empty;
  std::array<nb::object, 16> dtypes;

  Numpy() {
    const nb::object numpy =
        import_package("numpy", "the outputs are numpy arrays");
    array_class = numpy.attr("ndarray");
    empty = numpy.attr("empty");
  }

  nb::handle dtype(DType dtype) {
    nb::object& known = dtypes.at(static_cast<std::size_t>(dtype));
    if (known.is_valid()) return known;
    const std::string type(name(dtype));
    if (bits(dtype) < 8) {
      throw Unsupported("numpy has no packed " + type +
                        " arrays: pass return_type='dlpack'");
    }
    const nb::object scope =
        dtype == DType::bfloat16
            ? import_package("ml_dtypes", "numpy has no bfloat16 without it")
            : nb::object(nb::module_::import_("numpy"));
    const nb::object numpy = nb::module_::import_("numpy");
    known = numpy.attr("dtype")(
        scope.attr(dtype == DType::bool_ ? "bool_" : type.c_str()));
    return known;
  }
};

Numpy& numpy() { return immortal<Numpy>(); }

nb::object shape_of(const Tensor& tensor) {
  const auto rank = static_cast<Py_ssize_t>(tensor.rank());
  nb::object shape = checked(PyTuple_New(rank));
  for (Py_ssize_t axis = 0; axis < rank; ++axis) {
    nb::object size = checked(
        PyLong_FromLongLong(tensor.shape()[static_cast<std::size_t>(axis)]));
    PyTuple_SetItem(shape.ptr(), axis, size.release().ptr());
  }
  return shape;
}

const DLPackExchangeAPI* torch_api() {
  struct Api {
    nb::object torch = import_package("torch", "the outputs are torch tensors");
    const DLPackExchangeAPI* functions = exchange_api(
        reinterpret_cast<PyTypeObject*>(torch.attr("Tensor").ptr()));
  };
  return immortal<Api>().functions;
}

}  // namespace

nb::object to_numpy(const Tensor& tensor) {
  Numpy& types = numpy();
  const nb::handle dtype = types.dtype(tensor.dtype());
  const nb::object shape = shape_of(tensor);
  if (tensor.element_count() == 0) return types.empty(shape, dtype);
  const nb::object memory = nb::cast(tensor);
  PyObject* const arguments[] = {nullptr, shape.ptr(), dtype.ptr(),
                                 memory.ptr()};
  return checked(PyObject_Vectorcall(types.array_class.ptr(), arguments + 1,
                                     3 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     nullptr));
}

nb::object to_torch(const Tensor& tensor) {
  const DLPackExchangeAPI* api = torch_api();
  if (api == nullptr) {
    const nb::object torch = nb::module_::import_("torch");
    return torch.attr("from_dlpack")(nb::cast(tensor));
  }
  DLManagedTensorVersioned* managed = tensor.to_dlpack();
  void* made = nullptr;
  if (api->managed_tensor_to_py_object_no_sync(managed, &made) != 0) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(static_cast<PyObject*>(made));
}

nb::object to_array(const Tensor& tensor, Arrays arrays) {
  if (arrays == Arrays::torch) return to_torch(tensor);
  if (arrays == Arrays::numpy) return to_numpy(tensor);
  return nb::cast(tensor);
}

void require_package(Arrays arrays) {
  if (arrays == Arrays::torch) (void)torch_api();
  if (arrays == Arrays::numpy) (void)numpy();
}

nb::object to_python(const Scalar& scalar) {
  struct Visitor {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(bool value) const { return nb::cast(value); }
    nb::object operator()(std::int64_t value) const { return nb::cast(value); }
    nb::object operator()(double value) const { return nb::cast(value); }
    nb::object operator()(const std::string& value) const {
      return checked(PyUnicode_DecodeUTF8(
          value.data(), static_cast<Py_ssize_t>(value.size()), "replace"));
    }
  };
  return std::visit(Visitor{}, scalar);
}

bool is_installed(const char* package) {
  const nb::dict modules(nb::module_::import_("sys").attr("modules"));
  if (modules.contains(package)) return true;
  const nb::object find =
      nb::module_::import_("importlib.util").attr("find_spec");
  return !find(package).is_none();
}

}  // namespace modelrun::python
