// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <openvino/core/model.hpp>
#include <string>

namespace modelrun::openvino {

/// The precision that a graph's matrix products and convolutions are written
/// in: the widest of them; float32 for a graph without any.
[[nodiscard]] ov::element::Type graph_precision(const ov::Model& model);

/// The properties of precision that the exporter recorded in the model
/// (`runtime_options`). Others are left out: a file does not choose where a
/// cache is written.
[[nodiscard]] std::map<std::string, std::string> recorded_precision(
    const ov::Model& model);

}  // namespace modelrun::openvino
