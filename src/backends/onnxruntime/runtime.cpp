// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/runtime.h"

#include <dlfcn.h>

#include <charconv>
#include <cstddef>

#include "backends/onnxruntime/log_relay.h"

namespace modelrun::onnxruntime {
namespace {

/// The first function that API 24 appended to the table of API 23. The table
/// only ever grows at its end.
struct OrtApi24 {
  OrtApi api23;
  bool (*TensorTypeAndShape_HasShape)(const OrtTensorTypeAndShapeInfo*);
};
static_assert(ORT_API_VERSION == 23);
static_assert(sizeof(void*) != 8 ||
              offsetof(OrtApi24, TensorTypeAndShape_HasShape) == 3120);

/// The API version that a library of this version has: 32 for "1.32.0"; -1
/// when the text is no version. A 2.x counts as later than any 1.x.
int api_of_version(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto first =
      std::from_chars(version.data(), version.data() + version.size(), major);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') {
    return -1;
  }
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc{}) return -1;
  return major * 1000 + minor - 1000;
}

modelrun_status status_of(OrtErrorCode code) {
  switch (code) {
    case ORT_NO_SUCHFILE:
      return MODELRUN_NOT_FOUND;
    case ORT_NOT_IMPLEMENTED:
      return MODELRUN_UNSUPPORTED;
    case ORT_INVALID_ARGUMENT:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
    case ORT_NO_MODEL:
      return MODELRUN_INVALID_ARGUMENT;
    default:
      return MODELRUN_BACKEND_ERROR;
  }
}

/// Advice where the runtime's own words give none.
std::string_view advice_for(OrtErrorCode code, std::string_view message) {
  if (code == ORT_NOT_IMPLEMENTED &&
      message.find("Could not find an implementation") != message.npos) {
    return "; the CPU provider has no kernel for this operator with these data "
           "types (it has few for bfloat16): export the model in float32, or "
           "run it on a runtime that has them";
  }
  if (message.find("IR version") != message.npos ||
      message.find("opset") != message.npos) {
    return "; install a later ONNX Runtime, or export the model for an earlier "
           "version";
  }
  return "";
}

}  // namespace

std::shared_ptr<const Runtime> Runtime::open(const modelrun_host& host) {
  if (host.runtime_path == nullptr || *host.runtime_path == '\0') {
    throw Failure(MODELRUN_NOT_FOUND,
                  "cannot open ONNX Runtime: no library was given; install it: "
                  "pip install onnxruntime");
  }
  std::shared_ptr<Runtime> runtime(new Runtime);
  runtime->load(host.runtime_path);
  runtime->create_environment();
  return runtime;
}

void Runtime::load(const char* path) {
  path_ = path;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Failure(MODELRUN_NOT_FOUND,
                  "cannot open ONNX Runtime: " +
                      std::string(reason ? reason : "unknown reason"));
  }
  auto* entry = reinterpret_cast<const OrtApiBase* (*)()>(
      dlsym(library, "OrtGetApiBase"));
  const OrtApiBase* base = entry == nullptr ? nullptr : entry();
  if (base == nullptr) {
    dlclose(library);
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot open ONNX Runtime: '" + path_ +
                      "' is another library, it has no OrtGetApiBase");
  }
  version_ = base->GetVersionString();
  const int api = api_of_version(version_);
  // Asked first, because GetApi prints to stderr when it refuses.
  if (api >= ORT_API_VERSION) api_ = base->GetApi(ORT_API_VERSION);
  if (api_ == nullptr) {
    throw Failure(MODELRUN_UNSUPPORTED,
                  "cannot use ONNX Runtime " + version_ + " at '" + path_ +
                      "': version 1.23 or later is needed; install it: pip "
                      "install -U onnxruntime");
  }
  if (api > ORT_API_VERSION) {
    const auto* later =
        reinterpret_cast<const OrtApi24*>(base->GetApi(ORT_API_VERSION + 1));
    if (later != nullptr) has_shape_ = later->TensorTypeAndShape_HasShape;
  }
}

void Runtime::create_environment() {
  check(api_->CreateEnvWithCustomLogger(relay_log, nullptr,
                                        ORT_LOGGING_LEVEL_WARNING, "modelrun",
                                        &environment_),
        "creating its environment");
  check(api_->DisableTelemetryEvents(environment_), "disabling telemetry");
  check(api_->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault,
                                  &cpu_memory_),
        "describing CPU memory");
  check(api_->GetAllocatorWithDefaultOptions(&cpu_allocator_),
        "taking its allocator");
}

Runtime::~Runtime() {
  if (api_ == nullptr) return;
  if (cpu_memory_ != nullptr) api_->ReleaseMemoryInfo(cpu_memory_);
  if (environment_ != nullptr) api_->ReleaseEnv(environment_);
}

std::vector<std::string> Runtime::providers() const {
  char** names = nullptr;
  int count = 0;
  check(api_->GetAvailableProviders(&names, &count), "listing its providers");
  std::vector<std::string> providers(names, names + count);
  if (OrtStatus* status = api_->ReleaseAvailableProviders(names, count)) {
    api_->ReleaseStatus(status);
  }
  return providers;
}

bool Runtime::is_known_scalar(
    const OrtTensorTypeAndShapeInfo* info) const noexcept {
  return has_shape_ != nullptr && has_shape_(info);
}

void Runtime::fail(OrtStatus* status, std::string_view doing) const {
  const OrtErrorCode code = api_->GetErrorCode(status);
  std::string message = "ONNX Runtime " + version_ + ", ";
  message.append(doing).append(": ");
  const std::string_view words = api_->GetErrorMessage(status);
  message.append(words).append(advice_for(code, words));
  api_->ReleaseStatus(status);
  throw Failure(status_of(code), std::move(message));
}

}  // namespace modelrun::onnxruntime
