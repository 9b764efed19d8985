// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/model.hpp>

namespace modelrun::openvino {

/// Throws Failure that names the first node of a kind that the CPU device
/// computes otherwise than it says: a resize that is cubic and antialiased is
/// done without antialiasing, and no error tells.
void refuse_unsupported_nodes(const ov::Model& model);

}  // namespace modelrun::openvino
