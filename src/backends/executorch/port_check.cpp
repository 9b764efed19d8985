// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/port_check.h"

#include <limits>
#include <string>

namespace modelrun::executorch {
namespace {

/// What the runtime counts sizes with.
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

/// What a port takes, as `"int64[<=4, <=64]"`.
std::string shown_port(const modelrun_port& port, const PortFacts& facts) {
  std::string text = plugin::shown_tensor(port.dtype, nullptr, 0);
  text.pop_back();
  const char* separator = "";
  for (const std::int64_t bound : facts.bounds) {
    text.append(separator);
    text += facts.is_static    ? std::to_string(bound)
            : facts.is_bounded ? "<=" + std::to_string(bound)
                               : "any";
    separator = ", ";
  }
  return text + "]";
}

void check_dims(const DLTensor& tensor, const modelrun_port& port,
                const PortFacts& facts) {
  for (std::size_t axis = 0; axis < facts.bounds.size(); ++axis) {
    const std::int64_t size = tensor.shape[axis];
    const std::int64_t bound = facts.is_bounded ? facts.bounds[axis] : kLargest;
    if (facts.is_static ? size == bound : size <= bound) continue;
    plugin::refuse_tensor(
        tensor, port.name,
        "axis " + std::to_string(axis) + " is " + std::to_string(size) +
            ", but the program was exported for " +
            (facts.is_static ? "" : "at most ") + std::to_string(bound) +
            " (it takes " + shown_port(port, facts) +
            "): export it with a larger bound, by dynamic_shapes");
  }
}

}  // namespace

plugin::TensorView checked_for_port(const DLTensor& tensor,
                                    const modelrun_port& port,
                                    const PortFacts& facts) {
  plugin::TensorView view = plugin::checked_view(tensor, port.name);
  if (!plugin::is_same_dtype(view.dtype, port.dtype) ||
      view.dims.size() != facts.bounds.size()) {
    plugin::refuse_tensor(tensor, port.name,
                          "expected " + shown_port(port, facts));
  }
  check_dims(tensor, port, facts);
  return view;
}

}  // namespace modelrun::executorch
