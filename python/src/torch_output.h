// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "array_output.h"
#include "modelrun/value.h"
#include "python.h"

namespace modelrun::python {

/// Builds the outputs of one program as the source model returns them: torch
/// tensors in transformers' own ModelOutput and cache classes. The classes are
/// looked up once, for the structure that each call of the program returns.
class TorchOutputs {
 public:
  TorchOutputs();
  ~TorchOutputs();
  TorchOutputs(const TorchOutputs&) = delete;
  TorchOutputs& operator=(const TorchOutputs&) = delete;

  [[nodiscard]] nb::object build(const Value& value);

 private:
  class Node;
  std::shared_ptr<Node> root_;
  const Structure* structure_ = nullptr;
};

}  // namespace modelrun::python
