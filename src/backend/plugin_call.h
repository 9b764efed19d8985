// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "modelrun/backend.h"

namespace modelrun {

/// A sink that keeps what a plugin writes. It holds no heap memory until
/// something long is written.
class TextSink {
 public:
  TextSink() noexcept : sink_{sizeof(modelrun_sink), this, &write} {}
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  [[nodiscard]] const modelrun_sink* get() const noexcept { return &sink_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  static void write(void* context, const char* text, size_t length) noexcept;

  modelrun_sink sink_;
  std::string text_;
};

/// Throws the exception of a status other than MODELRUN_OK, with the plugin's
/// message as it is; `backend` and `call` name it when it wrote none.
[[noreturn]] void throw_status(modelrun_status status,
                               const std::string& message, const char* backend,
                               const char* call);

/// Does one call of a plugin's table, which gets its error sink.
template <typename Call>
void call_plugin(const char* backend, const char* name, Call&& call) {
  TextSink error;
  const modelrun_status status = call(error.get());
  if (status != MODELRUN_OK) {
    throw_status(status, error.text(), backend, name);
  }
}

}  // namespace modelrun
