// SPDX-License-Identifier: Apache-2.0
#include "tensor.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "array_output.h"
#include "dlpack/dlpack.h"
#include "errors.h"
#include "tensor_input.h"

namespace modelrun::python {
namespace {

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kUnversioned = "dltensor";

// A consumer renames a capsule that it takes; one that nobody took frees it.
template <typename Managed>
void free_capsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

nb::object make_capsule(const Tensor& tensor, bool versioned) {
  if (versioned) {
    return checked(
        PyCapsule_New(tensor.to_dlpack(), kVersioned, [](PyObject* capsule) {
          free_capsule<DLManagedTensorVersioned>(capsule, kVersioned);
        }));
  }
  return checked(PyCapsule_New(
      tensor.to_dlpack_unversioned(), kUnversioned, [](PyObject* capsule) {
        free_capsule<DLManagedTensor>(capsule, kUnversioned);
      }));
}

nb::object to_capsule(const Tensor& tensor, nb::handle max_version,
                      nb::handle copy) {
  const bool copied = !copy.is_none() && nb::cast<bool>(copy);
  bool versioned = false;
  if (!max_version.is_none()) {
    versioned = nb::cast<int>(max_version[0]) >= DLPACK_MAJOR_VERSION;
  }
  return make_capsule(copied ? tensor.clone() : tensor, versioned);
}

nb::tuple dlpack_device(const Tensor& tensor) {
  const std::unique_ptr<DLManagedTensor, void (*)(DLManagedTensor*)> managed(
      tensor.to_dlpack_unversioned(),
      [](DLManagedTensor* self) { self->deleter(self); });
  const DLDevice device = managed->dl_tensor.device;
  return nb::make_tuple(static_cast<int>(device.device_type), device.device_id);
}

nb::tuple shape_of(const Tensor& tensor) {
  nb::list sizes;
  for (const std::int64_t size : tensor.shape()) sizes.append(size);
  return nb::tuple(sizes);
}

// What a view of a buffer needs as long as it is out.
struct View {
  Tensor tensor;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

void fill_view(Py_buffer* view, int flags, std::unique_ptr<View> held,
               const char* format) {
  const Tensor& tensor = held->tensor;
  const auto width = static_cast<Py_ssize_t>(bits(tensor.dtype()) / 8);
  const auto rank = tensor.rank();
  for (const std::int64_t size : tensor.shape()) held->shape.push_back(size);
  held->strides.resize(rank);
  Py_ssize_t step = width;
  for (std::size_t axis = rank; axis-- > 0;) {
    held->strides[axis] = step;
    step *= std::max<Py_ssize_t>(held->shape[axis], 1);
  }
  // A buffer of nothing has an address, too.
  static char nothing = 0;
  view->buf = tensor.element_count() == 0 ? &nothing : tensor.raw_data();
  view->len = static_cast<Py_ssize_t>(tensor.byte_size());
  view->readonly = 0;
  view->itemsize = width;
  view->format = nullptr;
  if ((flags & PyBUF_FORMAT) != 0) view->format = const_cast<char*>(format);
  view->ndim = static_cast<int>(rank);
  view->shape = (flags & PyBUF_ND) != 0 ? held->shape.data() : nullptr;
  view->strides =
      (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? held->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = held.release();
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    const Tensor& tensor = *nb::inst_ptr<Tensor>(self);
    const char* format = buffer_format(tensor.dtype());
    const bool refused = bits(tensor.dtype()) < 8 ||
                         (format == nullptr && (flags & PyBUF_FORMAT) != 0);
    if (refused || tensor.device().type != DeviceType::cpu) {
      PyErr_Format(PyExc_BufferError,
                   "Python's buffers have no %s elements on %s: read the "
                   "tensor through DLPack",
                   std::string(name(tensor.dtype())).c_str(),
                   to_string(tensor.device()).c_str());
      return -1;
    }
    auto held = std::make_unique<View>();
    held->tensor = tensor.contiguous();
    fill_view(view, flags, std::move(held), format);
    view->obj = Py_NewRef(self);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<View*>(view->internal);
}

const PyType_Slot kSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr}};

Tensor tensor_from(nb::handle object) {
  if (auto tensor = read_tensor(object.ptr())) return *std::move(tensor);
  throw InvalidType("cannot make a tensor of a " +
                    class_name_of(Py_TYPE(object.ptr())) +
                    ": expected an array with __dlpack__ or the buffer "
                    "protocol");
}

}  // namespace

const char* buffer_format(DType dtype) noexcept {
  switch (dtype) {
    case DType::bool_:
      return "?";
    case DType::uint8:
      return "B";
    case DType::uint16:
      return "H";
    case DType::uint32:
      return "I";
    case DType::uint64:
      return "Q";
    case DType::int8:
      return "b";
    case DType::int16:
      return "h";
    case DType::int32:
      return "i";
    case DType::int64:
      return "q";
    case DType::float16:
      return "e";
    case DType::float32:
      return "f";
    case DType::float64:
      return "d";
    case DType::bfloat16:
    case DType::uint4:
    case DType::int4:
      break;
  }
  return nullptr;
}

void register_tensor(nb::module_& module) {
  nb::class_<Tensor>(module, "Tensor", nb::type_slots(kSlots),
                     "An array on its own memory, or on another package's: "
                     "read it with numpy.asarray, numpy.from_dlpack or "
                     "torch.from_dlpack.")
      .def_static("from_dlpack", &tensor_from, nb::arg("array"),
                  "A tensor on the memory of an array, which it keeps alive.")
      .def_prop_ro("dtype",
                   [](const Tensor& self) { return name(self.dtype()); })
      .def_prop_ro("device",
                   [](const Tensor& self) { return to_string(self.device()); })
      .def_prop_ro("shape", &shape_of,
                   nb::sig("def shape(self) -> tuple[int, ...]"))
      .def("numpy", &to_numpy, nb::sig("def numpy(self) -> typing.Any"),
           "A numpy array on the same memory.")
      .def(
          "__dlpack__",
          [](const Tensor& self, nb::object, nb::object max_version, nb::object,
             nb::object copy) { return to_capsule(self, max_version, copy); },
          nb::kw_only(), nb::arg("stream") = nb::none(),
          nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", &dlpack_device,
           nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def(
          "__reduce__",
          [](const Tensor&) {
            throw InvalidType(
                "a modelrun.Tensor cannot be pickled: pickle the array that "
                "its method numpy() returns");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"))
      .def("__repr__", [](const Tensor& self) {
        return "modelrun.Tensor(" + to_string(self) + ")";
      });
}

}  // namespace modelrun::python
