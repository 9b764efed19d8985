// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/fetched_tensor.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "backends/onnxruntime/element_type.h"

namespace modelrun::onnxruntime {
namespace {

/// Followed in memory by the shape and the strides.
struct FetchedTensor {
  DLManagedTensorVersioned managed;
  std::shared_ptr<const Runtime> runtime;
  Handle<OrtValue> value;

  std::int64_t* numbers() noexcept {
    return reinterpret_cast<std::int64_t*>(this + 1);
  }
};
static_assert(alignof(FetchedTensor) >= alignof(std::int64_t));

void destroy(FetchedTensor* tensor) noexcept {
  // The value goes while the runtime is still there.
  const auto runtime = std::move(tensor->runtime);
  tensor->~FetchedTensor();
  ::operator delete(tensor);
}

void delete_managed(DLManagedTensorVersioned* managed) {
  destroy(static_cast<FetchedTensor*>(managed->manager_ctx));
}

Handle<OrtTensorTypeAndShapeInfo> type_and_shape(const Runtime& runtime,
                                                 const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  runtime.check(runtime.api().GetTensorTypeAndShape(value, &info),
                "reading an output's shape");
  return {info, runtime.api().ReleaseTensorTypeAndShapeInfo};
}

}  // namespace

DLManagedTensorVersioned* make_fetched_tensor(
    std::shared_ptr<const Runtime> runtime, Handle<OrtValue> value) {
  const Runtime& used = *runtime;
  const OrtApi& api = used.api();
  const auto info = type_and_shape(used, value.get());
  std::size_t rank = 0;
  used.check(api.GetDimensionsCount(info.get(), &rank),
             "reading an output's rank");
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  used.check(api.GetTensorElementType(info.get(), &element),
             "reading an output's type");
  const auto dtype = to_dlpack(element);
  if (!dtype) {
    throw Failure(MODELRUN_UNSUPPORTED,
                  "an output is a tensor of " + onnx_name(element));
  }
  void* data = nullptr;
  used.check(api.GetTensorMutableData(value.get(), &data),
             "reading an output's data");

  void* memory =
      ::operator new(sizeof(FetchedTensor) + 2 * rank * sizeof(std::int64_t));
  auto* tensor =
      new (memory) FetchedTensor{{}, std::move(runtime), std::move(value)};
  std::int64_t* shape = tensor->numbers();
  if (OrtStatus* status = api.GetDimensions(info.get(), shape, rank)) {
    const auto kept = tensor->runtime;
    destroy(tensor);
    kept->check(status, "reading an output's shape");
  }
  std::int64_t* strides = shape + rank;
  std::int64_t stride = 1;
  for (std::size_t axis = rank; axis-- > 0; stride *= shape[axis]) {
    strides[axis] = stride;
  }
  tensor->managed = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
                     .manager_ctx = tensor,
                     .deleter = delete_managed,
                     .flags = 0,
                     .dl_tensor = {.data = data,
                                   .device = {kDLCPU, 0},
                                   .ndim = static_cast<std::int32_t>(rank),
                                   .dtype = *dtype,
                                   .shape = shape,
                                   .strides = strides,
                                   .byte_offset = 0}};
  return &tensor->managed;
}

}  // namespace modelrun::onnxruntime
