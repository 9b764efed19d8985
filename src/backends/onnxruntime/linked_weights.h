// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "artifact/mapped_file.h"
#include "backends/onnxruntime/runtime.h"

namespace modelrun::onnxruntime {

/// The weights of a program that links lead out of its folder for, as in a Hub
/// cache.
///
/// ONNX Runtime from 1.24 on refuses to open some of them, by rules that differ
/// between its releases; from memory it takes them all. The library has checked
/// that they lie in the same repo, and no other file is read.
class LinkedWeights {
 public:
  /// Maps them; throws what a damaged program or a missing file throws.
  explicit LinkedWeights(const std::string& program);

  [[nodiscard]] bool empty() const noexcept { return files_.empty(); }
  /// The runtime copies them when it creates a session with these options:
  /// until then this object must live.
  void add_to(const Runtime& runtime, OrtSessionOptions* options) const;

 private:
  std::vector<std::string> locations_;
  std::vector<MappedFile> files_;
};

}  // namespace modelrun::onnxruntime
