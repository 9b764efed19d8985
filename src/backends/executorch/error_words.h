// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "backends/executorch/api.h"
#include "backends/executorch/platform.h"

namespace modelrun::executorch {

/// What one of the runtime's error codes means: `"an operator is missing"`.
[[nodiscard]] std::string_view words_of(et::Error error) noexcept;

/// Throws Failure: `doing`, what `error` means and what the runtime logged.
[[noreturn]] void fail(et::Error error, std::string_view doing,
                       LogCapture& log);

/// Does nothing when `error` is none.
inline void check(et::Error error, std::string_view doing, LogCapture& log) {
  if (error != et::Error::Ok) [[unlikely]]
    fail(error, doing, log);
}

}  // namespace modelrun::executorch
