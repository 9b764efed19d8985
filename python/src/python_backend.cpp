// SPDX-License-Identifier: Apache-2.0
#include "python_backend.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "errors.h"
#include "modelrun/backends.h"
#include "python_session.h"

/// A runner class, as a backend.
struct modelrun_backend {
  modelrun::python::nb::object runner_class;
};

namespace modelrun::python {
namespace {

constexpr std::size_t kMaxBackends = 32;

// What a table of functions is registered for.
struct Registered {
  std::string name;
  nb::object runner_class;
  modelrun_backend_table table{};
};

std::array<Registered, kMaxBackends>& registered() {
  return immortal<std::array<Registered, kMaxBackends>>();
}

// The last Python error of this thread that left through the table. A thread
// that ends with one leaves it: there may be no interpreter any more.
thread_local nb::python_error* pending_error = nullptr;

void write(const modelrun_sink* sink, std::string_view text) {
  if (sink != nullptr) sink->write(sink->context, text.data(), text.size());
}

// Runs the body with the GIL; no exception leaves.
template <typename Body>
modelrun_status guarded(const modelrun_sink* error, Body&& body) noexcept {
  const nb::gil_scoped_acquire held;
  try {
    body();
    return MODELRUN_OK;
  } catch (nb::python_error& raised) {
    try {
      write(error, class_name_of(Py_TYPE(raised.value().ptr())) + ": " +
                       str_of(raised.value()));
      delete std::exchange(pending_error,
                           new nb::python_error(std::move(raised)));
    } catch (...) {
      PyErr_Clear();
    }
    return MODELRUN_BACKEND_ERROR;
  } catch (const std::exception& thrown) {
    write(error, thrown.what());
    return MODELRUN_BACKEND_ERROR;
  }
}

nb::object json() { return nb::module_::import_("json"); }

// The options that a runner class names.
nb::list options_of(const nb::object& runner_class) {
  return nb::list(nb::getattr(runner_class, "options", nb::tuple()));
}

template <std::size_t N>
modelrun_status create(const modelrun_host*, modelrun_backend** backend,
                       const modelrun_sink* error) {
  return guarded(error, [&] {
    *backend = new modelrun_backend{registered()[N].runner_class};
  });
}

template <typename T>
void destroy(T* object) {
  // At the end of the process there is nothing to give back to.
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire held;
  delete object;
}

modelrun_status describe(modelrun_backend* backend, modelrun_session* session,
                         const modelrun_sink* text,
                         const modelrun_sink* error) {
  return guarded(error, [&] {
    nb::dict description;
    if (session == nullptr) {
      description["runtime"] = class_name_of(
          reinterpret_cast<PyTypeObject*>(backend->runner_class.ptr()));
      description["options"] = options_of(backend->runner_class);
    } else {
      description["device"] =
          nb::getattr(session->runner, "device", nb::str("cpu"));
    }
    const nb::object dumped = json().attr("dumps")(description);
    write(text, text_of(dumped.ptr()));
  });
}

modelrun_status create_session(modelrun_backend* backend, const char* program,
                               const char* options, modelrun_session** session,
                               const modelrun_sink* error) {
  return guarded(error, [&] {
    const nb::object loaded = json().attr("loads")(options);
    const nb::dict given = nb::borrow<nb::dict>(loaded);
    const nb::list known = options_of(backend->runner_class);
    for (const auto& [key, value] : given) {
      const int found = PySequence_Contains(known.ptr(), key.ptr());
      if (found < 0) throw nb::python_error();
      if (found > 0) continue;
      throw InvalidArgument(
          "option '" + str_of(key) +
          "' is not one of those that it takes: " + str_of(known));
    }
    *session = new modelrun_session(backend->runner_class(program, **given));
  });
}

modelrun_status create_request(modelrun_session* session,
                               modelrun_request** request,
                               const modelrun_sink* error) {
  return guarded(error, [&] { *request = new modelrun_request(*session); });
}

modelrun_status bind(modelrun_request* request, modelrun_port_kind kind,
                     std::size_t index, const DLTensor* tensor,
                     const modelrun_sink* error) {
  return guarded(error, [&] { request->bind(kind, index, tensor); });
}

modelrun_status run(modelrun_request* request, const modelrun_sink* error) {
  return guarded(error, [&] { request->run(); });
}

modelrun_status fetch(modelrun_request* request, modelrun_port_kind kind,
                      std::size_t index, DLManagedTensorVersioned** tensor,
                      const modelrun_sink* error) {
  return guarded(error, [&] { *tensor = request->fetch(kind, index); });
}

using Create = modelrun_status (*)(const modelrun_host*, modelrun_backend**,
                                   const modelrun_sink*);

// The table's functions are told no more than the backend that they made: each
// table has a function of its own that makes it.
template <std::size_t... N>
constexpr std::array<Create, sizeof...(N)> creators(
    std::index_sequence<N...> /*numbers*/) {
  return {create<N>...};
}

modelrun_backend_table make_table(const char* name, std::size_t number) {
  static constexpr auto kCreators =
      creators(std::make_index_sequence<kMaxBackends>());
  modelrun_backend_table table{};
  table.struct_size = sizeof table;
  table.abi = MODELRUN_BACKEND_ABI;
  table.name = name;
  table.version = "1";
  table.backend_create = kCreators[number];
  table.backend_destroy = destroy<modelrun_backend>;
  table.describe = describe;
  table.session_create = create_session;
  table.session_destroy = destroy<modelrun_session>;
  table.session_signature = [](const modelrun_session* session) {
    return &session->signature.table();
  };
  table.request_create = create_request;
  table.request_destroy = destroy<modelrun_request>;
  table.request_bind = bind;
  table.request_run = run;
  table.request_fetch = fetch;
  // Python code is interrupted by its own signals only.
  table.request_cancel = [](modelrun_request*) {};
  return table;
}

void register_class(const std::string& name, nb::object runner_class,
                    const std::vector<std::string>& formats) {
  if (PyType_Check(runner_class.ptr()) == 0 ||
      !nb::hasattr(runner_class, "run")) {
    throw InvalidType("the runner class of backend '" + name +
                      "' must be a class with a method run(inputs), got " +
                      std::string(nb::repr(runner_class).c_str()));
  }
  for (std::size_t i = 0; i < kMaxBackends; ++i) {
    Registered& place = registered()[i];
    if (place.runner_class.is_valid()) continue;
    place.name = name;
    place.runner_class = std::move(runner_class);
    place.table = make_table(place.name.c_str(), i);
    const nb::gil_scoped_release released;
    register_backend({.name = name,
                      .formats = formats,
                      .plugin = {},
                      .table = &place.table});
    return;
  }
  throw Unsupported("a process takes " + std::to_string(kMaxBackends) +
                    " backends that are written in Python, no more");
}

}  // namespace

void raise_pending_error(const char* error) {
  const std::unique_ptr<nb::python_error> pending(
      std::exchange(pending_error, nullptr));
  if (pending == nullptr) return;
  if (!pending->matches(PyExc_Exception)) throw std::move(*pending);
  const nb::object type =
      nb::module_::import_("modelrun._core").attr("BackendError");
  nb::raise_from(*pending, type.ptr(), "%s", error);
}

void register_python_backend(nb::module_& module) {
  module.def("register_backend", &register_class, nb::arg("name"),
             nb::arg("runner_class").none(), nb::arg("formats"),
             nb::sig("def register_backend(name: str, "
                     "runner_class: type[typing.Any], "
                     "formats: collections.abc.Sequence[str]) -> None"));
}

}  // namespace modelrun::python
