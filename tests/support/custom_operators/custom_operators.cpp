// SPDX-License-Identifier: Apache-2.0
// A library of one operator for ONNX Runtime: my_ops:Twist, which returns its
// floats in reverse.
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace {

// Of the table's fields, those of this version are set.
constexpr std::uint32_t kOpVersion = 12;

const OrtApi* api = nullptr;

void* create_kernel(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*) {
  static int kernel = 0;
  return &kernel;
}

bool failed(OrtStatus* status) {
  if (status != nullptr) api->ReleaseStatus(status);
  return status != nullptr;
}

// Leaves the output undefined when the runtime refuses something: the test that
// reads it then fails.
void compute(void*, OrtKernelContext* context) {
  const OrtValue* input = nullptr;
  OrtValue* output = nullptr;
  void* from = nullptr;
  void* to = nullptr;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  std::size_t count = 0;
  if (failed(api->KernelContext_GetInput(context, 0, &input)) ||
      failed(api->GetTensorTypeAndShape(input, &info))) {
    return;
  }
  const bool counted = !failed(api->GetTensorShapeElementCount(info, &count));
  api->ReleaseTensorTypeAndShapeInfo(info);
  const auto size = static_cast<std::int64_t>(count);
  if (!counted ||
      failed(api->KernelContext_GetOutput(context, 0, &size, 1, &output)) ||
      failed(api->GetTensorMutableData(const_cast<OrtValue*>(input), &from)) ||
      failed(api->GetTensorMutableData(output, &to))) {
    return;
  }
  const auto* values = static_cast<const float*>(from);
  std::reverse_copy(values, values + count, static_cast<float*>(to));
}

OrtCustomOp make_twist() {
  OrtCustomOp op{};
  op.version = kOpVersion;
  op.CreateKernel = create_kernel;
  op.GetName = [](const OrtCustomOp*) { return "Twist"; };
  op.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* {
    return nullptr;
  };
  op.GetInputType = [](const OrtCustomOp*, std::size_t) {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  };
  op.GetInputTypeCount = [](const OrtCustomOp*) { return std::size_t{1}; };
  op.GetOutputType = op.GetInputType;
  op.GetOutputTypeCount = op.GetInputTypeCount;
  op.KernelCompute = compute;
  op.KernelDestroy = [](void*) {};
  op.GetInputCharacteristic = [](const OrtCustomOp*, std::size_t) {
    return INPUT_OUTPUT_REQUIRED;
  };
  op.GetOutputCharacteristic = op.GetInputCharacteristic;
  op.GetInputMemoryType = [](const OrtCustomOp*, std::size_t) {
    return OrtMemTypeDefault;
  };
  return op;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(
    OrtSessionOptions* options, const OrtApiBase* base) {
  static const OrtCustomOp twist = make_twist();
  // Sessions use the domain until the library is unloaded.
  static std::unique_ptr<OrtCustomOpDomain, void (*)(OrtCustomOpDomain*)>
      domain(nullptr,
             [](OrtCustomOpDomain* made) { api->ReleaseCustomOpDomain(made); });
  api = base->GetApi(ORT_API_VERSION);
  if (domain == nullptr) {
    OrtCustomOpDomain* made = nullptr;
    if (OrtStatus* status = api->CreateCustomOpDomain("my_ops", &made)) {
      return status;
    }
    domain.reset(made);
    if (OrtStatus* status = api->CustomOpDomain_Add(made, &twist)) {
      return status;
    }
  }
  return api->AddCustomOpDomain(options, domain.get());
}
