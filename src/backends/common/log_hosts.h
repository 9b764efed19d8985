// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <string_view>

namespace modelrun::plugin {

/// Where a runtime's log goes while a backend exists.
///
/// A runtime has one logger per process, which may outlive the backend that set
/// it. So its lines go to whichever host was added last and is still there.
void add_log_host(const modelrun_host* host);
void remove_log_host(const modelrun_host* host) noexcept;

/// Does nothing when there is no host. Thread-safe.
void log_to_host(modelrun_log_level level, std::string_view text) noexcept;

}  // namespace modelrun::plugin
