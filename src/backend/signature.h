// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backend/backend.h"

namespace modelrun {

/// A copy of what a plugin says about a program's ports. Throws BackendError,
/// naming the plugin's mistake, when it is not a signature, and Unsupported
/// when a port has a dtype that modelrun does not know. `program` names the
/// program in errors.
[[nodiscard]] Signature copy_signature(const modelrun_signature* signature,
                                       const std::string& program);

}  // namespace modelrun
