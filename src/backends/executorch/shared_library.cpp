// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/shared_library.h"

#include <dlfcn.h>

#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

}  // namespace

void* open_library(const std::string& path) {
  // Never RTLD_GLOBAL: other runtimes have functions of the same names.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Failure(MODELRUN_BACKEND_ERROR,
                  "cannot open a library of ExecuTorch: " + loader_error());
  }
  return library;
}

void* detail::symbol_of(void* library, const char* symbol) {
  void* found = dlsym(library, symbol);
  if (found == nullptr) {
    throw Failure(
        MODELRUN_BACKEND_ERROR,
        "a library of ExecuTorch is of another release: " + loader_error());
  }
  return found;
}

}  // namespace modelrun::executorch
