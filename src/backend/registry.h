// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "modelrun/backends.h"

namespace modelrun {

/// The registered backend of this name, opened with the runtime that
/// `find_runtime` finds. It is opened once for each runtime and stays open.
/// Throws NotFound when no such backend is registered, or when its plugin or
/// its runtime is missing; says what was tried. Thread-safe.
[[nodiscard]] std::shared_ptr<Backend> open_backend(
    std::string_view name, const std::filesystem::path& runtime_path = {});

/// The formats that a registered backend reads; throws NotFound when no such
/// backend is registered.
[[nodiscard]] std::vector<std::string> backend_formats(std::string_view name);

}  // namespace modelrun
