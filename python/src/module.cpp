// SPDX-License-Identifier: Apache-2.0
#include "describe.h"
#include "errors.h"
#include "interrupt.h"
#include "log_relay.h"
#include "model.h"
#include "outputs.h"
#include "process.h"
#include "python.h"
#include "python_backend.h"
#include "tensor.h"

NB_MODULE(_core, module) {
  namespace python = modelrun::python;
  module.doc() = "The native part of modelrun.";
  // Classes and tables that live as long as the process are no leaks.
  nanobind::set_leak_warnings(false);
  python::register_errors(module);
  python::register_tensor(module);
  python::register_outputs(module);
  python::register_description(module);
  python::register_model(module);
  python::register_python_backend(module);
  module.def("wait_for_abandoned", &python::wait_for_abandoned);
  python::watch_forks();
  python::relay_log();
}
