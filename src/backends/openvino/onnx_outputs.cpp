// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/onnx_outputs.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <variant>

#include "artifact/onnx_program.h"
#include "backends/common/failure.h"

namespace modelrun::openvino {
namespace {

bool fits(const ov::PartialShape& shape, const std::vector<OnnxDim>& dims) {
  if (shape.rank().is_dynamic()) return true;
  if (shape.size() != dims.size()) return false;
  return std::equal(dims.begin(), dims.end(), shape.begin(),
                    [](const OnnxDim& dim, const ov::Dimension& read) {
                      const auto* size = std::get_if<std::int64_t>(&dim);
                      return size == nullptr || read.compatible(*size);
                    });
}

std::string shown(const std::vector<OnnxDim>& dims) {
  std::ostringstream text;
  text << "[";
  for (const OnnxDim& dim : dims) {
    text << (&dim == &dims.front() ? "" : ", ");
    std::visit([&](const auto& value) { text << value; }, dim);
  }
  text << "]";
  return text.str();
}

}  // namespace

void check_onnx_outputs(const ov::Model& model, const std::string& path) {
  if (!path.ends_with(".onnx")) return;
  const OnnxProgram program = load_onnx_program(path);
  for (const auto& read : model.outputs()) {
    const auto output = std::find_if(
        program.outputs.begin(), program.outputs.end(), [&](const auto& each) {
          return read.get_names().count(each.name) != 0;
        });
    if (output == program.outputs.end() || !output->dims ||
        fits(read.get_partial_shape(), *output->dims)) {
      continue;
    }
    std::ostringstream shape;
    shape << read.get_partial_shape();
    throw plugin::Failure(
        MODELRUN_UNSUPPORTED,
        "OpenVINO cannot run '" + path + "': it reads output '" + output->name +
            "' as " + shape.str() + ", but the program says " +
            shown(*output->dims) +
            "; run it on ONNX Runtime, or export the model in the format "
            "openvino");
  }
}

}  // namespace modelrun::openvino
