// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace modelrun::onnxruntime {

/// The operators of a program from domains that are neither ONNX's nor the
/// runtime's own, as `"my_ops:Frobnicate, my_ops:Twist"`; empty when there are
/// none, or the file cannot be read.
[[nodiscard]] std::string foreign_operators(const std::string& program);

}  // namespace modelrun::onnxruntime
