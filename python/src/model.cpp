// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <memory>
#include <utility>

#include "arguments.h"
#include "describe.h"
#include "errors.h"
#include "interrupt.h"
#include "modelrun/exported_model.h"
#include "outputs.h"
#include "process.h"
#include "python_backend.h"
#include "torch_output.h"

namespace modelrun::python {
namespace {

// What a handle of a model holds in Python.
struct State {
  explicit State(ExportedModel loaded)
      : model(std::move(loaded)), traced(model) {}

  ExportedModel model;
  TracedKwargs traced;
  ObjectReader reader;
  TorchOutputs torch_outputs;
};

[[noreturn]] void refuse_after_fork() {
  throw Error(
      "this model was loaded before the process forked, and its threads are "
      "those of the parent: load it in the child, or start children with the "
      "method 'spawn'");
}

// An object that runtime threads belong to: neither used nor destroyed in a
// process that was forked from the one that made it.
template <typename T>
class OfThisProcess {
 public:
  OfThisProcess() = default;
  explicit OfThisProcess(std::shared_ptr<T> object)
      : object_(std::move(object)), forks_(fork_count()) {}
  OfThisProcess(OfThisProcess&& other) noexcept = default;
  OfThisProcess& operator=(OfThisProcess&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(forks_, other.forks_);
    return *this;
  }
  ~OfThisProcess() {
    if (forks_ != fork_count()) {
      // Left as it is: its destructor would wait for threads that are not here.
      (void)new std::shared_ptr<T>(std::move(object_));
    }
  }
  [[nodiscard]] const std::shared_ptr<T>& get() const {
    if (forks_ != fork_count()) refuse_after_fork();
    return object_;
  }

 private:
  std::shared_ptr<T> object_;
  unsigned forks_ = fork_count();
};

nb::object to_outputs(const Value& value, Arrays arrays, State& state) {
  if (!state.traced.recorded()) return to_mapping(value, arrays);
  return arrays == Arrays::torch ? state.torch_outputs.build(value)
                                 : to_python(value, arrays);
}

// Runs without the GIL; Ctrl-C ends it.
template <typename Run>
auto run_released(Run&& run) {
  const InterruptScope scope;
  try {
    const nb::gil_scoped_release released;
    return run(scope.token());
  } catch (const BackendError& error) {
    scope.raise_if_interrupted();
    raise_pending_error(error.what());
    throw;
  }
}

class Bound {
 public:
  Bound(std::shared_ptr<State> state, BoundCall call, Arrays arrays)
      : state_(std::move(state)),
        call_(std::make_shared<BoundCall>(std::move(call))),
        arrays_(arrays) {}

  nb::object run() {
    const auto call = call_.get();
    const Value outputs = run_released(
        [&call](const std::stop_token& stop) { return (*call)(stop); });
    return to_outputs(outputs, arrays_, *state_.get());
  }

 private:
  OfThisProcess<State> state_;
  OfThisProcess<BoundCall> call_;
  Arrays arrays_;
};

class Model {
 public:
  explicit Model(ExportedModel model)
      : state_(std::make_shared<State>(std::move(model))) {}
  Model(const Model& other) : state_(other.state()) {}
  Model& operator=(const Model&) = delete;
  ~Model() = default;

  [[nodiscard]] std::shared_ptr<State> state() const { return state_.get(); }
  [[nodiscard]] const ExportedModel& model() const {
    return state_.get()->model;
  }

  nb::object call(PyObject* args, PyObject* kwargs) const {
    const std::shared_ptr<State> state = state_.get();
    Arguments arguments(state->reader, state->traced);
    arguments.read(args, kwargs);
    const Value outputs = run_released([&](std::stop_token stop) {
      return state->model(arguments.kwargs(),
                          {.share_inputs = arguments.share_inputs(),
                           .share_outputs = arguments.share_outputs(),
                           .stop = std::move(stop)});
    });
    return to_outputs(outputs, arguments.arrays(), *state);
  }

  [[nodiscard]] Bound bind(const nb::args& args,
                           const nb::kwargs& kwargs) const {
    const std::shared_ptr<State> state = state_.get();
    Arguments arguments(state->reader, state->traced);
    arguments.read(args.ptr(), kwargs.ptr());
    return {state, state->model.bind(arguments.kwargs()), arguments.arrays()};
  }

  void replace(const Model& other) {
    state_ = OfThisProcess<State>(other.state());
  }

  [[nodiscard]] nb::object config() const {
    return to_python(model().config(), Arrays::dlpack);
  }
  [[nodiscard]] nb::object generation_config() const {
    return to_python(model().generation_config(), Arrays::dlpack);
  }
  [[nodiscard]] nb::object report() const {
    return to_python(model().report(), Arrays::dlpack);
  }
  void save(const std::string& directory) const {
    const std::shared_ptr<State> state = state_.get();
    run_abandonable(
        [state, directory] { state->model.save_pretrained(directory); });
  }
  void warmup() const {
    const std::shared_ptr<State> state = state_.get();
    const nb::gil_scoped_release released;
    state->model.warmup();
  }

 private:
  OfThisProcess<State> state_;
};

PyObject* call_model(PyObject* self, PyObject* args,
                     PyObject* kwargs) noexcept {
  try {
    return nb::inst_ptr<Model>(self)->call(args, kwargs).release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

PyObject* call_bound(PyObject* self, PyObject* args,
                     PyObject* kwargs) noexcept {
  try {
    if (PyTuple_Size(args) != 0 ||
        (kwargs != nullptr && PyDict_Size(kwargs) != 0)) {
      throw InvalidType(
          "a bound call takes no arguments: write new values into the arrays "
          "that were bound");
    }
    return nb::inst_ptr<Bound>(self)->run().release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

const PyType_Slot kModelSlots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call_model)}, {0, nullptr}};
const PyType_Slot kBoundSlots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call_bound)}, {0, nullptr}};

std::vector<std::pair<std::string, Scalar>> scalars_of(nb::dict options) {
  std::vector<std::pair<std::string, Scalar>> scalars;
  for (const auto& [key, value] : options) {
    auto scalar = read_scalar(value.ptr());
    if (!scalar) {
      throw InvalidType("option '" + nb::cast<std::string>(key) + "' is a " +
                        class_name_of(Py_TYPE(value.ptr())) +
                        ": expected a string, a number, a bool or None");
    }
    scalars.emplace_back(nb::cast<std::string>(key), *std::move(scalar));
  }
  return scalars;
}

Model load(const std::string& path, const std::string& subfolder,
           const std::string& file_name, const std::string& backend,
           std::optional<std::string> device, std::optional<int> threads,
           const std::string& runtime_path, bool check_recorded_shapes,
           nb::dict options) {
  LoadOptions load_options{.subfolder = subfolder,
                           .file_name = file_name,
                           .backend = backend,
                           .threads = threads,
                           .runtime_path = runtime_path,
                           .options = scalars_of(std::move(options)),
                           .check_recorded_shapes = check_recorded_shapes};
  if (device) load_options.device = Device::from_string(*device);
  const auto loaded = std::make_shared<std::optional<ExportedModel>>();
  run_abandonable([loaded, path, load_options] {
    loaded->emplace(ExportedModel::from_pretrained(path, load_options));
  });
  return Model(std::move(**loaded));
}

}  // namespace

void register_model(nb::module_& module) {
  nb::class_<Bound>(
      module, "BoundCall", nb::type_slots(kBoundSlots),
      "A call whose inputs stay bound: write new values into the arrays, and "
      "call it again. The outputs are overwritten by the next run.")
      .def(
          "__reduce__",
          [](const Bound&) {
            throw InvalidType(
                "a bound call cannot be pickled: bind the model anew where it "
                "is "
                "needed");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"));
  nb::class_<Model>(module, "Model", nb::type_slots(kModelSlots),
                    nb::is_weak_referenceable())
      .def(nb::init<const Model&>(), nb::arg("other"))
      .def("bind", &Model::bind)
      .def("component_names",
           [](const Model& self) { return self.model().components(); })
      .def(
          "component_model",
          [](const Model& self, const std::string& name) {
            return Model(self.model().component(name));
          },
          nb::arg("name"))
      .def("replace", &Model::replace, nb::arg("other"))
      .def(
          "describe",
          [](const Model& self) {
            return describe_program(self.model().program());
          },
          nb::sig("def describe(self) -> dict[str, typing.Any]"))
      .def_prop_ro("export_format",
                   [](const Model& self) { return self.model().format(); })
      .def("dtype_name",
           [](const Model& self) { return name(self.model().dtype()); })
      .def("device_name",
           [](const Model& self) { return to_string(self.model().device()); })
      .def("config_dict", &Model::config,
           nb::sig("def config_dict(self) -> dict[str, typing.Any] | None"))
      .def("generation_config_dict", &Model::generation_config,
           nb::sig("def generation_config_dict(self) -> "
                   "dict[str, typing.Any] | None"))
      .def("report", &Model::report,
           nb::sig("def report(self) -> dict[str, typing.Any]"),
           "What runs where, for each component.")
      .def("save", &Model::save, nb::arg("directory"))
      .def("warmup", &Model::warmup,
           "Runs every component once, so that the first real call pays for "
           "no lazy initialization.");
  module.def("load", &load, nb::arg("path"), nb::kw_only(),
             nb::arg("subfolder") = "", nb::arg("file_name") = "",
             nb::arg("backend") = "", nb::arg("device") = nb::none(),
             nb::arg("threads") = nb::none(), nb::arg("runtime_path") = "",
             nb::arg("check_recorded_shapes") = true,
             nb::arg("options") = nb::dict(),
             nb::sig("def load(path: str, *, subfolder: str = '', "
                     "file_name: str = '', backend: str = '', "
                     "device: str | None = None, threads: int | None = None, "
                     "runtime_path: str = '', "
                     "check_recorded_shapes: bool = True, "
                     "options: dict[str, typing.Any] = {}) -> Model"));
}

}  // namespace modelrun::python
