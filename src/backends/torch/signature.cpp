// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/signature.h"

#include "backends/torch/element_type.h"

namespace modelrun::torch {

Signature::Signature(const Program& program) {
  for (const ProgramInput& input : program.inputs) {
    inputs_.push_back(port_of(input.port));
  }
  for (const ProgramOutput& output : program.outputs) {
    modelrun_port port{};
    if (output.constant) {
      port.name = output.port.name.c_str();
      port.constant = output.constant->c_str();
    } else {
      port = port_of(output.port);
      port.is_number = output.is_number ? 1 : 0;
    }
    outputs_.push_back(port);
  }
  view_.struct_size = sizeof(modelrun_signature);
  view_.port_size = sizeof(modelrun_port);
  view_.input_count = inputs_.size();
  view_.inputs = inputs_.data();
  view_.output_count = outputs_.size();
  view_.outputs = outputs_.data();
}

modelrun_port Signature::port_of(const PortSpec& spec) {
  std::vector<const char*>& symbols = symbols_.emplace_back();
  for (const std::string& symbol : spec.symbols) {
    symbols.push_back(symbol.empty() ? nullptr : symbol.c_str());
  }
  modelrun_port port{};
  port.name = spec.name.c_str();
  // The reader refuses a type that DLPack does not have.
  port.dtype = *to_dlpack(spec.type);
  port.rank = static_cast<std::int32_t>(spec.dims.size());
  port.dims = spec.dims.data();
  port.symbols = symbols.data();
  return port;
}

}  // namespace modelrun::torch
