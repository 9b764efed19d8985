// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <openvino/core/model.hpp>
#include <optional>
#include <string>

namespace modelrun::openvino {

/// The input of a stateful model that says for each row of a call which row of
/// the cache it continues. Here that is always its own row.
struct BeamIndex {
  /// Among all inputs of the model.
  std::size_t input = 0;
  ov::element::Type type;
  /// By variable: the axis that the rows are on.
  std::map<std::string, std::size_t> batch_axes;
  /// How many rows a cache has that is not there yet: fixed, or the size of an
  /// axis of an input.
  std::optional<std::int64_t> fixed_batch;
  /// Among the inputs without this one.
  std::size_t batch_input = 0;
  std::size_t batch_axis = 0;
};

/// Nothing for a model without variables, or without such an input.
[[nodiscard]] std::optional<BeamIndex> find_beam_index(const ov::Model& model);

}  // namespace modelrun::openvino
