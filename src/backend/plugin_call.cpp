// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin_call.h"

#include <new>

#include "modelrun/error.h"

namespace modelrun {

void TextSink::write(void* context, const char* text, size_t length) noexcept {
  if (text == nullptr) return;
  // The plugin is on the stack below: nothing may be thrown through it.
  try {
    static_cast<TextSink*>(context)->text_.append(text, length);
  } catch (const std::exception&) {
    return;
  }
}

void throw_status(modelrun_status status, const std::string& message,
                  const char* backend, const char* call) {
  std::string text = message;
  if (text.empty()) {
    text = "backend '" + std::string(backend) + "' failed in " + call +
           " with status " + std::to_string(static_cast<int>(status)) +
           " and no message";
  }
  switch (status) {
    case MODELRUN_INVALID_ARGUMENT:
      throw InvalidArgument(text);
    case MODELRUN_NOT_FOUND:
      throw NotFound(text);
    case MODELRUN_UNSUPPORTED:
      throw Unsupported(text);
    default:
      throw BackendError(text);
  }
}

}  // namespace modelrun
