// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <span>

namespace modelrun::plugin {

/// A DLPack tensor on the CPU with memory of its own, aligned to 64 bytes and
/// not yet written. It keeps nothing of the plugin but this code.
[[nodiscard]] DLManagedTensorVersioned* make_owned_tensor(
    DLDataType dtype, std::span<const std::int64_t> dims);

}  // namespace modelrun::plugin
