// SPDX-License-Identifier: Apache-2.0
#include "describe.h"
#include "errors.h"
#include "interrupt.h"
#include "log_relay.h"
#include "model.h"
#include "outputs.h"
#include "process.h"
#include "python.h"
#include "tensor.h"

NB_MODULE(_core, module) {
  namespace python = modelrun::python;
  module.doc() = "The native part of modelrun.";
  python::register_errors(module);
  python::register_tensor(module);
  python::register_outputs(module);
  python::register_description(module);
  python::register_model(module);
  module.def("wait_for_abandoned", &python::wait_for_abandoned);
  python::watch_forks();
  python::relay_log();
}
