// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <utility>

#include "array_output.h"
#include "modelrun/backends.h"
#include "modelrun/version.h"

namespace modelrun::python {
namespace {

nb::list describe_ports(const std::vector<TensorDescription>& ports) {
  nb::list list;
  for (const TensorDescription& port : ports) {
    const nb::object dtype =
        port.dtype ? nb::cast(name(*port.dtype)) : nb::none();
    list.append(
        nb::make_tuple(port.name, dtype, nb::tuple(nb::cast(port.shape))));
  }
  return list;
}

nb::object drawing(const std::shared_ptr<const Structure>& structure) {
  return structure != nullptr ? nb::cast(to_string(*structure)) : nb::none();
}

nb::dict runtime(const std::string& backend) {
  const RuntimeSearch search = find_runtime(backend);
  nb::list tried;
  for (const RuntimeAttempt& attempt : search.tried) {
    tried.append(nb::make_tuple(attempt.source, attempt.where, attempt.result));
  }
  nb::dict made;
  made["library"] = search.library.string();
  made["version"] = search.version;
  made["tried"] = tried;
  made["fix"] = search.fix;
  return made;
}

std::string format_of(const std::string& path, const std::string& subfolder,
                      const std::string& file_name) {
  return export_format(path, {.subfolder = subfolder, .file_name = file_name});
}

std::vector<std::string> options_of(const std::string& backend,
                                    const std::string& runtime_path) {
  const nb::gil_scoped_release released;
  return backend_options(backend, runtime_path);
}

}  // namespace

nb::dict describe_program(const ComponentDescription& component) {
  nb::list kwargs;
  if (component.input_structure != nullptr) {
    const Structure& structure = *component.input_structure;
    for (std::size_t i = 0; i < structure.size(); ++i) {
      kwargs.append(structure.step(i));
    }
  }
  nb::dict constants;
  for (const auto& [key, value] : component.constants) {
    constants[nb::cast(key)] = to_python(value);
  }
  nb::dict packages;
  for (const auto& [key, value] : component.packages) {
    packages[nb::cast(key)] = value;
  }
  nb::dict made;
  made["name"] = component.name;
  made["path"] = component.file.string();
  made["architecture"] = component.architecture;
  made["packages"] = packages;
  made["inputs"] = describe_ports(component.inputs);
  made["outputs"] = describe_ports(component.outputs);
  made["kwargs"] = kwargs;
  made["constants"] = constants;
  made["input_structure"] = drawing(component.input_structure);
  made["output_structure"] = drawing(component.output_structure);
  return made;
}

void register_description(nb::module_& module) {
  module.attr("__version__") = version();
  module.def("export_format", &format_of, nb::arg("path"),
             nb::arg("subfolder") = "", nb::arg("file_name") = "");
  module.def("find_runtime", &runtime, nb::arg("backend"),
             nb::sig("def find_runtime(backend: str) -> "
                     "dict[str, typing.Any]"));
  module.def("registered_backends", &registered_backends);
  module.def(
      "default_backend",
      [](const std::string& format) { return default_backend(format); },
      nb::arg("format"));
  module.def("backend_options", &options_of, nb::arg("backend"),
             nb::arg("runtime_path") = "");
  module.def(
      "set_python_packages",
      [](const std::vector<std::string>& folders) {
        set_python_packages({folders.begin(), folders.end()});
      },
      nb::arg("folders"));
}

}  // namespace modelrun::python
