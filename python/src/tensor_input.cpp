// SPDX-License-Identifier: Apache-2.0
#include "tensor_input.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "dlpack/dlpack.h"
#include "errors.h"

namespace modelrun::python {
namespace {

enum class Source { other, tensor, exchange, dlpack, buffer, masked };

// What is known of a type of object.
struct ArrayType {
  PyTypeObject* type = nullptr;
  Source source = Source::other;
  Framework framework = Framework::none;
  const DLPackExchangeAPI* api = nullptr;
};

bool has_attribute(PyTypeObject* type, const char* name) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), name) != 0;
}

bool has_buffer(PyTypeObject* type) {
  return PyType_GetSlot(type, Py_bf_getbuffer) != nullptr &&
         PyType_IsSubtype(type, &PyBytes_Type) == 0 &&
         PyType_IsSubtype(type, &PyByteArray_Type) == 0;
}

ArrayType classify(PyTypeObject* type) {
  const nb::handle object(reinterpret_cast<PyObject*>(type));
  ArrayType known{.type = type, .api = exchange_api(type)};
  const bool is_torch = has_base(object, "torch.Tensor") ||
                        has_base(object, "torch._tensor.Tensor");
  const Framework framework = is_torch ? Framework::torch : Framework::dlpack;
  if (object.is(nb::type<Tensor>())) {
    known.source = Source::tensor;
    known.framework = Framework::dlpack;
  } else if (has_base(object, "numpy.ma.MaskedArray") ||
             has_base(object, "numpy.ma.core.MaskedArray")) {
    known.source = Source::masked;
  } else if (has_base(object, "numpy.ndarray") ||
             has_base(object, "numpy.generic")) {
    known.source = Source::buffer;
    known.framework = Framework::numpy;
  } else if (known.api != nullptr) {
    known.source = Source::exchange;
    known.framework = framework;
  } else if (has_attribute(type, "__dlpack__")) {
    known.source = Source::dlpack;
    known.framework = framework;
  } else if (has_buffer(type)) {
    known.source = Source::buffer;
  }
  return known;
}

// The types that were seen last. A type stays alive as long as it is here.
class ArrayTypes {
 public:
  ArrayType of(PyTypeObject* type) {
    for (const ArrayType& known : types_) {
      if (known.type == type) return known;
    }
    const ArrayType fresh = classify(type);
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    ArrayType& place = types_[next_];
    next_ = (next_ + 1) % types_.size();
    PyTypeObject* const old = std::exchange(place, fresh).type;
    Py_XDECREF(reinterpret_cast<PyObject*>(old));
    return fresh;
  }

 private:
  std::array<ArrayType, 16> types_{};
  std::size_t next_ = 0;
};

// The message of the Python error that is set, which is cleared.
std::string take_message() {
  nb::python_error error;
  // Ctrl-C and the like are not the array's.
  if (!error.matches(PyExc_Exception)) throw std::move(error);
  return str_of(error.value());
}

// ---- DLPack ---------------------------------------------------------------

template <typename Managed>
Tensor own(Managed* managed) {
  try {
    return Tensor::from_dlpack(managed);
  } catch (...) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    throw;
  }
}

Tensor read_exchange(PyObject* object, const DLPackExchangeAPI& api) {
  DLManagedTensorVersioned* managed = nullptr;
  if (api.managed_tensor_from_py_object_no_sync(object, &managed) != 0 ||
      managed == nullptr) {
    const std::string why =
        PyErr_Occurred() != nullptr ? take_message() : "it gave none";
    throw InvalidArgument("a " + class_name_of(Py_TYPE(object)) +
                          " cannot be read through DLPack: " + why);
  }
  return own(managed);
}

template <typename Managed>
Tensor take_capsule(PyObject* capsule, const char* name, const char* used) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed == nullptr) throw nb::python_error();
  Tensor tensor = Tensor::from_dlpack(managed);
  // From here on the tensor frees it.
  PyCapsule_SetName(capsule, used);
  return tensor;
}

nb::object call_dlpack(PyObject* object) {
  const nb::handle array(object);
  const nb::object device = array.attr("__dlpack_device__")();
  // A stream of -1: no wait, which host memory needs none of.
  nb::dict options;
  options["max_version"] =
      nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  try {
    return array.attr("__dlpack__")(**options);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  // A producer older than DLPack 1.0 knows no versions.
  return array.attr("__dlpack__")();
}

Tensor read_dlpack(PyObject* object) {
  const std::string type = class_name_of(Py_TYPE(object));
  nb::object capsule;
  try {
    capsule = call_dlpack(object);
  } catch (nb::python_error& error) {
    // Ctrl-C and the like are not the array's.
    if (!error.matches(PyExc_Exception)) throw;
    throw InvalidArgument("a " + type + " cannot be read through DLPack: " +
                          str_of(error.value()));
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    return take_capsule<DLManagedTensorVersioned>(
        capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned");
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
    return take_capsule<DLManagedTensor>(capsule.ptr(), "dltensor",
                                         "used_dltensor");
  }
  throw InvalidArgument("the __dlpack__ of a " + type + " returned a " +
                        class_name_of(Py_TYPE(capsule.ptr())) +
                        ", expected a new DLPack capsule");
}

// ---- Buffers --------------------------------------------------------------

// A buffer that is released with the last tensor on it, on whatever thread.
struct HeldBuffer {
  Py_buffer view{};
  bool held = false;

  HeldBuffer() = default;
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  ~HeldBuffer() {
    if (!held || Py_IsInitialized() == 0) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyBuffer_Release(&view);
    PyGILState_Release(state);
  }
};

std::optional<DType> dtype_of_integer(bool is_signed, Py_ssize_t width) {
  switch (width) {
    case 1:
      return is_signed ? DType::int8 : DType::uint8;
    case 2:
      return is_signed ? DType::int16 : DType::uint16;
    case 4:
      return is_signed ? DType::int32 : DType::uint32;
    case 8:
      return is_signed ? DType::int64 : DType::uint64;
    default:
      return std::nullopt;
  }
}

// Of the struct module's codes; only those of this machine's own byte order.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t width) {
  if (format == nullptr) return DType::uint8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (std::strlen(format) != 1) return std::nullopt;
  const char code = *format;
  if (code == '?') return DType::bool_;
  if (code == 'e') return DType::float16;
  if (code == 'f') return DType::float32;
  if (code == 'd' && width == 8) return DType::float64;
  if (std::strchr("bhilqn", code) != nullptr) {
    return dtype_of_integer(true, width);
  }
  if (std::strchr("BHILQN", code) != nullptr) {
    return dtype_of_integer(false, width);
  }
  return std::nullopt;
}

[[noreturn]] void refuse_dtype(PyObject* object, const char* format) {
  std::string dtype = format == nullptr ? "?" : format;
  const nb::handle array(object);
  if (nb::hasattr(array, "dtype")) {
    dtype = str_of(nb::object(array.attr("dtype")));
  }
  throw InvalidType("an array of dtype " + dtype +
                    " has no modelrun dtype: expected bool, integers or "
                    "floats in this machine's byte order; convert it with "
                    "astype");
}

TensorLayout layout_of(const Py_buffer& view, DType dtype) {
  TensorLayout layout{
      .dtype = dtype,
      .shape = Shape::of_rank(static_cast<std::size_t>(view.ndim))};
  for (int axis = 0; axis < view.ndim; ++axis) {
    layout.shape[static_cast<std::size_t>(axis)] = view.shape[axis];
  }
  if (view.strides == nullptr || PyBuffer_IsContiguous(&view, 'C') != 0) {
    return layout;
  }
  layout.strides = Shape::of_rank(static_cast<std::size_t>(view.ndim));
  for (int axis = 0; axis < view.ndim; ++axis) {
    if (view.strides[axis] % view.itemsize != 0) {
      throw InvalidArgument(
          "an array whose strides are not whole elements cannot be read in "
          "place: pass numpy.ascontiguousarray of it");
    }
    layout.strides[static_cast<std::size_t>(axis)] =
        view.strides[axis] / view.itemsize;
  }
  return layout;
}

Tensor view_buffer(PyObject* object, std::optional<DType> dtype) {
  auto held = std::make_shared<HeldBuffer>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
    throw nb::python_error();
  }
  held->held = true;
  if (!dtype) dtype = dtype_of_format(view.format, view.itemsize);
  if (!dtype || view.suboffsets != nullptr) refuse_dtype(object, view.format);
  TensorLayout layout = layout_of(view, *dtype);
  return Tensor::view(view.buf, std::move(layout), std::move(held));
}

// numpy's buffers have no code for the dtypes that other packages add.
std::optional<Tensor> read_extension_dtype(PyObject* object) {
  const nb::handle array(object);
  if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return {};
  const std::string dtype = str_of(nb::object(array.attr("dtype")));
  if (dtype != "bfloat16") refuse_dtype(object, nullptr);
  const nb::object bits = array.attr("view")("uint16");
  return view_buffer(bits.ptr(), DType::bfloat16);
}

Tensor read_buffer(PyObject* object) {
  try {
    return view_buffer(object, std::nullopt);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    if (auto tensor = read_extension_dtype(object)) return *std::move(tensor);
    throw InvalidArgument("the buffer of a " + class_name_of(Py_TYPE(object)) +
                          " cannot be read: " + str_of(error.value()));
  }
}

}  // namespace

std::string class_name_of(PyTypeObject* type) {
  const nb::handle object(reinterpret_cast<PyObject*>(type));
  const nb::object module = nb::getattr(object, "__module__", nb::none());
  const nb::object name = object.attr("__qualname__");
  std::string text;
  if (PyUnicode_Check(module.ptr()) != 0) {
    text = std::string(text_of(module.ptr()));
  }
  if (text == "builtins") text.clear();
  return (text.empty() ? "" : text + ".") + std::string(text_of(name.ptr()));
}

bool has_base(nb::handle type, std::string_view dotted) {
  for (const nb::handle base : nb::object(type.attr("__mro__"))) {
    if (class_name_of(reinterpret_cast<PyTypeObject*>(base.ptr())) == dotted) {
      return true;
    }
  }
  return false;
}

const DLPackExchangeAPI* exchange_api(PyTypeObject* type) {
  PyObject* const found = PyObject_GetAttrString(
      reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (found == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  const nb::object capsule = nb::steal(found);
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) {
    return nullptr;
  }
  // Such a table lives as long as the process.
  const auto* header = static_cast<const DLPackExchangeAPIHeader*>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (header != nullptr && header->version.major != DLPACK_MAJOR_VERSION) {
    header = header->prev_api;
  }
  return reinterpret_cast<const DLPackExchangeAPI*>(header);
}

std::optional<Tensor> read_tensor(PyObject* object, Framework* seen) {
  const ArrayType type = immortal<ArrayTypes>().of(Py_TYPE(object));
  if (type.source == Source::other) return std::nullopt;
  if (seen != nullptr) *seen = std::max(*seen, type.framework);
  switch (type.source) {
    case Source::tensor:
      return *nb::inst_ptr<Tensor>(object);
    case Source::exchange:
      return read_exchange(object, *type.api);
    case Source::dlpack:
      return read_dlpack(object);
    case Source::masked:
      throw InvalidType(
          "a masked array cannot be passed, since a model does not see its "
          "mask: pass array.filled(value)");
    case Source::buffer:
    case Source::other:
      break;
  }
  return read_buffer(object);
}

}  // namespace modelrun::python
