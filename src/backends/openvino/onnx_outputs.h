// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/model.hpp>
#include <string>

namespace modelrun::openvino {

/// Throws Failure where the reader of ONNX programs gave an output another size
/// than the program in `path` says: it reads an empty tensor as one element,
/// and no error tells.
void check_onnx_outputs(const ov::Model& model, const std::string& path);

}  // namespace modelrun::openvino
