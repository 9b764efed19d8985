// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/foreign_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "artifact/onnx_program.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun::onnxruntime {
namespace {

constexpr std::array<std::string_view, 10> kKnownDomains{
    "",
    "ai.onnx.ml",
    "ai.onnx.preview.training",
    "ai.onnx.training",
    "com.microsoft",
    "com.microsoft.dml",
    "com.microsoft.experimental",
    "com.microsoft.nchwc",
    "com.ms.internal.nhwc",
    "org.pytorch.aten"};

bool is_known(std::string_view domain) {
  return std::find(kKnownDomains.begin(), kKnownDomains.end(), domain) !=
         kKnownDomains.end();
}

}  // namespace

std::string foreign_operators(const std::string& program) {
  std::string list;
  try {
    for (const OnnxOperator& used : load_onnx_program(program).operators) {
      if (is_known(used.domain)) continue;
      if (!list.empty()) list += ", ";
      list += display(used.domain) + ":" + display(used.name);
    }
  } catch (const Error&) {
    return "";
  }
  return list;
}

}  // namespace modelrun::onnxruntime
