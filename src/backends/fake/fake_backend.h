// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "modelrun/backend.h"

namespace modelrun::fake {

/// The table of the fake backend, for tests that register it in their own
/// process. Its programs are scripts in JSON; script.h says what they hold.
[[nodiscard]] const modelrun_backend_table* table() noexcept;

}  // namespace modelrun::fake
