// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace modelrun::executorch {

/// Opens a library that stays open until the process ends, because its threads
/// and registrations do; throws Failure with the loader's words.
[[nodiscard]] void* open_library(const std::string& path);

/// A function of a library; throws Failure when it has none of this name.
template <typename Function>
[[nodiscard]] Function function_of(void* library, const char* symbol);

namespace detail {
[[nodiscard]] void* symbol_of(void* library, const char* symbol);
}

template <typename Function>
Function function_of(void* library, const char* symbol) {
  return reinterpret_cast<Function>(detail::symbol_of(library, symbol));
}

}  // namespace modelrun::executorch
