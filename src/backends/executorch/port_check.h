// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/tensor_view.h"
#include "backends/executorch/signature.h"

namespace modelrun::executorch {

/// The caller's memory, for a port. Throws Failure on a tensor that the port
/// cannot take: of another dtype or rank, or past an upper bound of the
/// program, which the runtime does not check axis by axis.
[[nodiscard]] plugin::TensorView checked_for_port(const DLTensor& tensor,
                                                  const modelrun_port& port,
                                                  const PortFacts& facts);

}  // namespace modelrun::executorch
