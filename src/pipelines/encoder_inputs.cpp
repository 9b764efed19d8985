// SPDX-License-Identifier: Apache-2.0
#include "pipelines/encoder_inputs.h"

#include <charconv>
#include <string_view>

namespace modelrun::detail {
namespace {

std::optional<std::int64_t> fixed_size(const std::string& dimension) {
  std::int64_t size = 0;
  const char* end = dimension.data() + dimension.size();
  const auto [rest, error] = std::from_chars(dimension.data(), end, size);
  if (error != std::errc() || rest != end || size <= 0) return std::nullopt;
  return size;
}

}  // namespace

EncoderInputs encoder_inputs(const ExportDescription& description) {
  EncoderInputs inputs;
  if (description.components.size() != 1) return inputs;
  const ComponentDescription& component = description.components.front();
  for (const TensorDescription& input : component.inputs) {
    inputs.names.insert(input.name);
    if (input.name != "input_ids" || input.shape.size() != 2) continue;
    inputs.batch = fixed_size(input.shape[0]);
    inputs.sequence = fixed_size(input.shape[1]);
  }
  // A kwarg that the graph does not read is still one of the model's own.
  if (const auto& kwargs = component.input_structure) {
    for (std::size_t i = 0; i < kwargs->size(); ++i) {
      inputs.names.insert(kwargs->step(i));
    }
  }
  return inputs;
}

}  // namespace modelrun::detail
