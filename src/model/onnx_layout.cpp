// SPDX-License-Identifier: Apache-2.0
#include "model/onnx_layout.h"

#include <algorithm>

#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun::detail {

void check_onnx_layout(const OnnxProgram& program) {
  const bool merged = std::any_of(
      program.inputs.begin(), program.inputs.end(),
      [](const OnnxValue& input) { return input.name == "use_cache_branch"; });
  if (!merged) return;
  throw Unsupported(
      display(program.file) +
      ": is a merged decoder of optimum: its input 'use_cache_branch' chooses "
      "between a graph with a cache and one without, and modelrun runs "
      "programs "
      "that are one or the other; load the two it was made of with the option "
      "file_name (decoder_model.onnx and decoder_with_past_model.onnx; "
      "optimum-cli export onnx --no-post-process keeps them), or export the "
      "model with transformers.exporters");
}

}  // namespace modelrun::detail
