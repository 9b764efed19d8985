// SPDX-License-Identifier: Apache-2.0
#include "text/rust_text.h"

#include "modelrun/error.h"

namespace modelrun::detail {

void check_rust(modelrun_rust_status status, std::string_view what,
                const RustText& error) {
  if (status == modelrun_rust_ok) return;
  const std::string message = std::string(what) + ": " + error.string();
  if (status == modelrun_rust_invalid_argument) throw InvalidArgument(message);
  throw BackendError(message);
}

}  // namespace modelrun::detail
