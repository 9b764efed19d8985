// SPDX-License-Identifier: Apache-2.0
// The scanner of ONNX files and the reader of their dimensions.

#include "artifact/onnx_program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "artifact/symbolic_dim.h"
#include "modelrun/error.h"

namespace {

void read_dims(const std::vector<modelrun::OnnxValue>& values) {
  using modelrun::SymbolicDim;
  modelrun::SymbolTable symbols;
  for (const modelrun::OnnxValue& value : values) {
    if (!value.dims || symbols.size() > 100) continue;
    for (const modelrun::OnnxDim& dim : *value.dims) {
      const auto* text = std::get_if<std::string>(&dim);
      if (text == nullptr) continue;
      const SymbolicDim parsed = SymbolicDim::parse(*text, symbols);
      std::vector<std::int64_t> bound(symbols.size(), SymbolicDim::kUnbound);
      static_cast<void>(parsed.solve(8, bound));
      bound.assign(symbols.size(), 7);
      static_cast<void>(parsed.evaluate(bound));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  try {
    const modelrun::OnnxProgram program =
        modelrun::parse_onnx_program({data, size}, "model.onnx");
    read_dims(program.inputs);
    read_dims(program.outputs);
  } catch (const modelrun::Error&) {
  }
  modelrun::SymbolTable symbols;
  const std::string text(reinterpret_cast<const char*>(data),
                         size < 64 ? size : 64);
  const auto dim = modelrun::SymbolicDim::parse(text, symbols);
  const std::vector<std::int64_t> values(symbols.size(), 7);
  static_cast<void>(dim.evaluate(values));
  return 0;
}
