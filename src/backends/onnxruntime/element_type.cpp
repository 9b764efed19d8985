// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/element_type.h"

#include <array>
#include <cstddef>
#include <limits>

namespace modelrun::onnxruntime {
namespace {

struct Pair {
  ONNXTensorElementDataType onnx;
  std::uint8_t code;
  std::uint8_t bits;
};

constexpr std::array kPairs{
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, kDLBool, 8},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, kDLUInt, 8},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, kDLUInt, 16},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, kDLUInt, 32},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, kDLUInt, 64},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, kDLInt, 8},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, kDLInt, 16},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, kDLInt, 32},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, kDLInt, 64},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, kDLFloat, 16},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, kDLBfloat, 16},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kDLFloat, 32},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, kDLFloat, 64},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, kDLUInt, 4},
    Pair{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, kDLInt, 4},
};

}  // namespace

std::optional<DLDataType> to_dlpack(ONNXTensorElementDataType type) noexcept {
  for (const Pair& pair : kPairs) {
    if (pair.onnx == type) return DLDataType{pair.code, pair.bits, 1};
  }
  return std::nullopt;
}

std::optional<ONNXTensorElementDataType> to_onnx(DLDataType type) noexcept {
  if (type.lanes != 1) return std::nullopt;
  for (const Pair& pair : kPairs) {
    if (pair.code == type.code && pair.bits == type.bits) return pair.onnx;
  }
  return std::nullopt;
}

std::string onnx_name(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
      return "string";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64:
      return "complex64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128:
      return "complex128";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN:
      return "float8e4m3fn";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ:
      return "float8e4m3fnuz";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2:
      return "float8e5m2";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ:
      return "float8e5m2fnuz";
    default:
      return "number " + std::to_string(static_cast<int>(type));
  }
}

}  // namespace modelrun::onnxruntime
