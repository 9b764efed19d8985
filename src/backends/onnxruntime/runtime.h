// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>
#include <onnxruntime_c_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/common/failure.h"

namespace modelrun::onnxruntime {

using plugin::Failure;

/// An object of the runtime with the function that releases it.
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

/// The runtime's library and environment. Sessions and fetched tensors share
/// it, so it may outlive the backend. Thread-safe.
class Runtime {
 public:
  /// Opens `host->runtime_path`; the library stays loaded until the process
  /// ends, because its threads and thread-local data do.
  static std::shared_ptr<const Runtime> open(const modelrun_host& host);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const OrtApi& api() const noexcept { return *api_; }
  [[nodiscard]] OrtEnv* environment() const noexcept { return environment_; }
  [[nodiscard]] const OrtMemoryInfo* cpu_memory() const noexcept {
    return cpu_memory_;
  }
  /// The process-wide CPU allocator; never released.
  [[nodiscard]] OrtAllocator* cpu_allocator() const noexcept {
    return cpu_allocator_;
  }
  /// As `"1.32.0"`.
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The execution providers that this library was built with.
  [[nodiscard]] std::vector<std::string> providers() const;

  /// Whether the shape of a tensor type without dimensions is really that of
  /// a scalar; runtimes before 1.24 do not tell it from an unknown one.
  [[nodiscard]] bool is_known_scalar(
      const OrtTensorTypeAndShapeInfo* info) const noexcept;

  /// Throws what the runtime says, after `doing`; releases the status.
  void check(OrtStatus* status, std::string_view doing) const {
    if (status != nullptr) [[unlikely]]
      fail(status, doing);
  }

 private:
  Runtime() = default;
  [[noreturn]] void fail(OrtStatus* status, std::string_view doing) const;
  void load(const char* path);
  void create_environment();

  const OrtApi* api_ = nullptr;
  bool (*has_shape_)(const OrtTensorTypeAndShapeInfo*) = nullptr;
  OrtEnv* environment_ = nullptr;
  OrtMemoryInfo* cpu_memory_ = nullptr;
  OrtAllocator* cpu_allocator_ = nullptr;
  std::string version_;
  std::string path_;
};

}  // namespace modelrun::onnxruntime
