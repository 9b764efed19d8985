// SPDX-License-Identifier: Apache-2.0
#include "log_relay.h"

#include "modelrun/log.h"
#include "python.h"

namespace modelrun::python {
namespace {

int python_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return 10;
    case LogLevel::info:
      return 20;
    case LogLevel::warning:
      return 30;
    case LogLevel::error:
      break;
  }
  return 40;
}

void pass_on(LogLevel level, std::string_view line) {
  // A runtime may log from its own threads until the very end.
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire held;
  // The error that is on its way is not the logger's.
  nb::error_scope pending;
  try {
    const nb::object text = checked(PyUnicode_DecodeUTF8(
        line.data(), static_cast<Py_ssize_t>(line.size()), "replace"));
    nb::module_::import_("logging")
        .attr("getLogger")("modelrun")
        .attr("log")(python_level(level), "%s", text);
  } catch (nb::python_error& error) {
    // Ctrl-C came while the logger ran: it is the caller's, and comes again.
    if (error.matches(PyExc_KeyboardInterrupt)) return PyErr_SetInterrupt();
    error.discard_as_unraisable("modelrun's logger");
  }
}

}  // namespace

void relay_log() { set_log_callback(pass_on, LogLevel::warning); }

}  // namespace modelrun::python
