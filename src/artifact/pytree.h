// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modelrun/structure.h"

namespace modelrun {

/// Reads a torch pytree spec, the text that `treespec_dumps` writes.
///
/// Every class is read by its structure: named children make a dict (of a
/// builtin or collections class) or an object (of any other), unnamed ones a
/// tuple or a list, and a tagged context (a cache) the tree that it draws, in
/// which a `torch.dtype`, `torch.device`, `torch.layout` or class is an object
/// with one attribute, `name`. `module:Class` becomes `module.Class`. Leaves
/// are numbered in torch's own order. Throws InvalidArgument that begins with
/// `where`, Unsupported for a newer protocol.
[[nodiscard]] Structure parse_pytree(std::string_view text,
                                     const std::string& where);

/// Reads an `in_spec`, `tuple(args, kwargs)`, as the dict of its kwargs. The
/// scalars among them are leaves, too. Throws Unsupported when there are
/// positional arguments.
[[nodiscard]] Structure parse_in_spec(std::string_view text,
                                      const std::string& where);

/// Reads an `out_spec` and puts `constants` (leaf index, value) in the places
/// of their leaves; the other leaves are renumbered 0..n-1, in their order.
[[nodiscard]] Structure parse_out_spec(
    std::string_view text,
    const std::vector<std::pair<std::size_t, Scalar>>& constants,
    const std::string& where);

}  // namespace modelrun
