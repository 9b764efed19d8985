// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/unsupported_nodes.h"

#include <openvino/op/util/interpolate_base.hpp>

#include "backends/common/failure.h"

namespace modelrun::openvino {
namespace {

bool is_antialiased_cubic(const ov::Node& node) {
  using Interpolate = ov::op::util::InterpolateBase;
  const auto* resize = dynamic_cast<const Interpolate*>(&node);
  return resize != nullptr && resize->get_attrs().antialias &&
         resize->get_attrs().mode == Interpolate::InterpolateMode::CUBIC;
}

}  // namespace

void refuse_unsupported_nodes(const ov::Model& model) {
  for (const auto& node : model.get_ordered_ops()) {
    if (!is_antialiased_cubic(*node)) continue;
    throw plugin::Failure(
        MODELRUN_UNSUPPORTED,
        "OpenVINO cannot run node '" + node->get_friendly_name() +
            "': it leaves the antialiasing of a cubic resize out; run the "
            "program on ONNX Runtime, or export the model in the format "
            "openvino, where the resize is written out");
  }
}

}  // namespace modelrun::openvino
