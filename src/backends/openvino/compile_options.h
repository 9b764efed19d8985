// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/model.hpp>

#include "backends/openvino/device.h"
#include "backends/openvino/options.h"

namespace modelrun::openvino {

/// The properties that a model is compiled with: the export's own precision,
/// one call at a time as fast as it goes, and what the options say over that.
[[nodiscard]] ov::AnyMap compile_properties(const Runtime& runtime,
                                            const ov::Model& model,
                                            const Device& device,
                                            const Options& options);

}  // namespace modelrun::openvino
