// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "artifact/json_text.h"
#include "artifact/pytree_parts.h"
#include "modelrun/structure.h"

namespace modelrun::detail {

/// Reads a tagged context, by which transformers' exporters record any object:
/// a tree of JSON in which `{"_t": "tensor", "i": n}` is the n-th child. Each
/// child must be a leaf or a constant, and must have just one place. Throws
/// InvalidArgument.
[[nodiscard]] Structure read_tagged_context(const Json& context,
                                            std::vector<Structure> children,
                                            const std::string& at,
                                            NodeBudget& budget);

}  // namespace modelrun::detail
