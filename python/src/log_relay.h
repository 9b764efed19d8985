// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace modelrun::python {

/// Sends the library's log lines, warnings and worse, to Python's logger
/// `modelrun`.
void relay_log();

}  // namespace modelrun::python
