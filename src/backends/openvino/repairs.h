// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <openvino/core/model.hpp>
#include <set>
#include <string>
#include <vector>

namespace modelrun::openvino {

/// A change that was made to a graph as it was loaded.
struct AppliedRepair {
  std::string name;
  std::size_t places = 0;
};

/// The repairs that there are:
///
/// * `attention_without_keys`: a row of attention whose keys are all masked is
///   zero, as in torch. Exporters write a mask of booleans as one of large
///   negative numbers, which makes such a row (padding on the left) an average.
/// * `kept_state_length`: a state that attention only reads (a cross-attention
///   cache) is given any length. Exporters write that of their sample.
[[nodiscard]] std::vector<std::string> repair_names();

/// Makes those that are needed and not `skipped`; a repair that the graph does
/// not take is left out.
[[nodiscard]] std::vector<AppliedRepair> repair(
    ov::Model& model, const std::set<std::string>& skipped);

}  // namespace modelrun::openvino
