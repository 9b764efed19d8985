// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#define MODELRUN_VERSION_MAJOR 0
#define MODELRUN_VERSION_MINOR 1
#define MODELRUN_VERSION_PATCH 0

namespace modelrun {

/// The version of the library that is running, as `"0.1.0"`.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace modelrun
