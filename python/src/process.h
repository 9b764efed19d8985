// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace modelrun::python {

/// How often this process came out of a fork. What was loaded before one has
/// lost its threads: it is neither called nor destroyed after it.
[[nodiscard]] unsigned fork_count() noexcept;

/// Starts counting; once for a process.
void watch_forks();

/// Whether this is the thread that handles Python's signals.
[[nodiscard]] bool is_main_thread() noexcept;

}  // namespace modelrun::python
