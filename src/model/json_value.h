// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "modelrun/value.h"

namespace modelrun {

/// A JSON text as a value: objects are dicts, arrays lists. An empty text is
/// None. Throws InvalidArgument that begins with `what`.
[[nodiscard]] Value value_from_json(std::string_view text,
                                    const std::string& what);

}  // namespace modelrun
