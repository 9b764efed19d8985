// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/signature.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "backends/onnxruntime/element_type.h"

namespace modelrun::onnxruntime {
namespace {

std::string_view word_for(ONNXType type) {
  switch (type) {
    case ONNX_TYPE_TENSOR:
      return "tensor";
    case ONNX_TYPE_SEQUENCE:
      return "sequence";
    case ONNX_TYPE_MAP:
      return "map";
    case ONNX_TYPE_OPAQUE:
      return "opaque";
    case ONNX_TYPE_SPARSETENSOR:
      return "sparse tensor";
    case ONNX_TYPE_OPTIONAL:
      return "optional";
    default:
      return "unknown";
  }
}

[[noreturn]] void refuse(const char* kind, const std::string& name,
                         const std::string& type) {
  throw Failure(MODELRUN_UNSUPPORTED,
                std::string(kind) + " '" + name + "' is of ONNX type " + type +
                    "; only tensors of bool, integers, float16, bfloat16, "
                    "float32 and float64 can be passed: export the model "
                    "without it");
}

/// Some exporters write a fixed size as the symbol "7".
std::optional<std::int64_t> number_of(std::string_view symbol) {
  std::int64_t value = 0;
  const char* const end = symbol.data() + symbol.size();
  const auto [stop, error] =
      std::from_chars(symbol.data(), symbol.data() + symbol.size(), value);
  if (error != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

using CountOf = OrtStatus* (*)(const OrtSession*, size_t*);
using NameOf = OrtStatus* (*)(const OrtSession*, size_t, OrtAllocator*, char**);
using TypeOf = OrtStatus* (*)(const OrtSession*, size_t, OrtTypeInfo**);

std::size_t count(const Runtime& runtime, const OrtSession* session,
                  CountOf count_of) {
  std::size_t number = 0;
  runtime.check(count_of(session, &number), "counting ports");
  return number;
}

std::string port_name(const Runtime& runtime, const OrtSession* session,
                      std::size_t index, NameOf name_of) {
  OrtAllocator* allocator = runtime.cpu_allocator();
  char* text = nullptr;
  runtime.check(name_of(session, index, allocator, &text), "naming a port");
  std::string name = text;
  allocator->Free(allocator, text);
  return name;
}

Handle<OrtTypeInfo> port_type(const Runtime& runtime, const OrtSession* session,
                              std::size_t index, TypeOf type_of) {
  OrtTypeInfo* type = nullptr;
  runtime.check(type_of(session, index, &type), "reading a port's type");
  return {type, runtime.api().ReleaseTypeInfo};
}

}  // namespace

Signature::Signature(const Runtime& runtime, const OrtSession* session) {
  const OrtApi& api = runtime.api();
  const auto input_count = count(runtime, session, api.SessionGetInputCount);
  for (std::size_t i = 0; i < input_count; ++i) {
    // The type info owns what is read from it.
    const auto type =
        port_type(runtime, session, i, api.SessionGetInputTypeInfo);
    inputs_.push_back(add_port(
        runtime, type.get(),
        port_name(runtime, session, i, api.SessionGetInputName), "input"));
  }
  const auto output_count = count(runtime, session, api.SessionGetOutputCount);
  for (std::size_t i = 0; i < output_count; ++i) {
    const auto type =
        port_type(runtime, session, i, api.SessionGetOutputTypeInfo);
    outputs_.push_back(add_port(
        runtime, type.get(),
        port_name(runtime, session, i, api.SessionGetOutputName), "output"));
  }
  view_.struct_size = sizeof(modelrun_signature);
  view_.port_size = sizeof(modelrun_port);
  view_.input_count = inputs_.size();
  view_.inputs = inputs_.data();
  view_.output_count = outputs_.size();
  view_.outputs = outputs_.data();
}

modelrun_port Signature::add_port(const Runtime& runtime,
                                  const OrtTypeInfo* type, std::string name,
                                  const char* kind) {
  const OrtApi& api = runtime.api();
  ONNXType onnx_type = ONNX_TYPE_UNKNOWN;
  runtime.check(api.GetOnnxTypeFromTypeInfo(type, &onnx_type),
                "reading a port's type");
  if (onnx_type != ONNX_TYPE_TENSOR) {
    refuse(kind, name, std::string(word_for(onnx_type)));
  }
  const OrtTensorTypeAndShapeInfo* info = nullptr;
  runtime.check(api.CastTypeInfoToTensorInfo(type, &info),
                "reading a port's type");
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  runtime.check(api.GetTensorElementType(info, &element),
                "reading a port's type");
  const auto dtype = to_dlpack(element);
  if (!dtype) refuse(kind, name, "tensor of " + onnx_name(element));

  Storage& storage = storage_.emplace_back();
  storage.name = std::move(name);
  read_shape(runtime, info, storage);
  const bool ranked = !storage.dims.empty() || runtime.is_known_scalar(info);
  modelrun_port port{};
  port.name = storage.name.c_str();
  port.dtype = *dtype;
  port.rank = ranked ? static_cast<std::int32_t>(storage.dims.size()) : -1;
  port.dims = storage.dims.data();
  port.symbols = storage.symbols.data();
  return port;
}

void Signature::read_shape(const Runtime& runtime,
                           const OrtTensorTypeAndShapeInfo* info,
                           Storage& storage) const {
  const OrtApi& api = runtime.api();
  std::size_t rank = 0;
  runtime.check(api.GetDimensionsCount(info, &rank), "reading a port's rank");
  storage.dims.resize(rank);
  storage.symbols.resize(rank);
  runtime.check(api.GetDimensions(info, storage.dims.data(), rank),
                "reading a port's shape");
  runtime.check(api.GetSymbolicDimensions(info, storage.symbols.data(), rank),
                "reading a port's symbols");
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const char* symbol = std::exchange(storage.symbols[axis], nullptr);
    if (storage.dims[axis] >= 0) continue;
    storage.dims[axis] = -1;
    if (symbol == nullptr || *symbol == '\0') continue;
    if (const auto number = number_of(symbol)) {
      storage.dims[axis] = *number;
    } else {
      storage.symbols[axis] = storage.symbol_texts.emplace_back(symbol).c_str();
    }
  }
}

}  // namespace modelrun::onnxruntime
