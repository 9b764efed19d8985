// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <modelrun/backend.h>
#include <modelrun/backends.h>
#include <modelrun/tensor.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/golden.h"

namespace modelrun::executorch_test {

/// The runtime that the library would take; empty when there is none.
inline std::string runtime_library() {
  return find_runtime("executorch").library.string();
}

/// The plugin that was built; empty when none was.
inline std::filesystem::path plugin_file() {
  for (const auto& entry :
       std::filesystem::directory_iterator(MODELRUN_PLUGIN_DIR)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("modelrun_executorch-")) return entry.path();
  }
  return {};
}

/// The plugin's table, opened as the library opens it: the runtime first.
inline const modelrun_backend_table& table() {
  static const auto* opened = [] {
    const auto open = [](const std::string& file) {
      void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) throw std::runtime_error(dlerror());
      return library;
    };
    open(runtime_library());
    return reinterpret_cast<modelrun_backend_entry>(
        dlsym(open(plugin_file()), MODELRUN_BACKEND_ENTRY))();
  }();
  return *opened;
}

struct Result {
  modelrun_status status = MODELRUN_OK;
  std::string text;
};

inline void append_text(void* context, const char* text, std::size_t length) {
  static_cast<std::string*>(context)->append(text, length);
}

/// Calls `function(arguments..., &sink)`; `text` is what was written.
template <typename Function, typename... Arguments>
Result call(Function function, Arguments... arguments) {
  Result result;
  const modelrun_sink sink{sizeof(modelrun_sink), &result.text, append_text};
  result.status = function(arguments..., &sink);
  return result;
}

/// Ends the test with the plugin's words: googletest reports what is thrown.
inline void require_ok(const Result& result) {
  if (result.status != MODELRUN_OK) {
    throw std::runtime_error(std::to_string(result.status) + ": " +
                             result.text);
  }
}

inline ::testing::AssertionResult has(const std::string& text,
                                      const std::string& part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "expected to find: " << part << "\n  in: " << text;
}

/// A host that keeps what is logged.
struct Host {
  explicit Host(std::string path)
      : library(std::move(path)),
        host{sizeof(modelrun_host), this, log, library.c_str()} {}
  static void log(void* context, modelrun_log_level level, const char* text,
                  std::size_t length) {
    auto* self = static_cast<Host*>(context);
    const std::lock_guard lock(self->mutex);
    self->levels.push_back(level);
    self->lines.emplace_back(text, length);
  }

  std::string library;
  modelrun_host host;
  std::mutex mutex;
  std::vector<modelrun_log_level> levels;
  std::vector<std::string> lines;
};

inline constexpr DLDataType kDLFloat32{kDLFloat, 32, 1};
inline constexpr DLDataType kDLInt64{kDLInt, 64, 1};

/// A DLTensor with its shape. The memory is the caller's.
struct View {
  View(void* data, DLDataType dtype, std::vector<std::int64_t> shape)
      : dims(std::move(shape)) {
    tensor.data = data;
    tensor.device = {kDLCPU, 0};
    tensor.dtype = dtype;
    tensor.ndim = static_cast<std::int32_t>(dims.size());
    tensor.shape = dims.data();
  }
  View(std::vector<float>& values, std::vector<std::int64_t> shape)
      : View(values.data(), kDLFloat32, std::move(shape)) {}
  View(std::vector<std::int64_t>& values, std::vector<std::int64_t> shape)
      : View(values.data(), kDLInt64, std::move(shape)) {}
  /// A golden tensor.
  View(const Tensor& value, DLDataType dtype)
      : View(value.raw_data(), dtype,
             {value.shape().begin(), value.shape().end()}) {}

  std::vector<std::int64_t> dims;
  DLTensor tensor{};
};

struct ManagedDeleter {
  void operator()(DLManagedTensorVersioned* tensor) const {
    tensor->deleter(tensor);
  }
};
using Fetched = std::unique_ptr<DLManagedTensorVersioned, ManagedDeleter>;

inline std::vector<std::int64_t> shape_of(const Fetched& tensor) {
  const DLTensor& view = tensor->dl_tensor;
  return {view.shape, view.shape + view.ndim};
}

template <typename T>
std::vector<T> values_of(const Fetched& tensor) {
  std::size_t count = 1;
  for (const auto size : shape_of(tensor)) {
    count *= static_cast<std::size_t>(size);
  }
  const auto* data = static_cast<const T*>(tensor->dl_tensor.data);
  return count == 0 ? std::vector<T>{} : std::vector<T>(data, data + count);
}

/// One request on one session; `run` and `fetch` expect success.
class Call {
 public:
  explicit Call(modelrun_session* session)
      : signature(*table().session_signature(session)) {
    require_ok(call(table().request_create, session, &request));
  }
  ~Call() { table().request_destroy(request); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Result try_bind(modelrun_port_kind kind, std::size_t index,
                  const DLTensor* tensor) {
    return call(table().request_bind, request, kind, index, tensor);
  }
  Result try_input(std::size_t index, const View& view) {
    return try_bind(MODELRUN_INPUT, index, &view.tensor);
  }
  Result try_run() { return call(table().request_run, request); }
  Result try_fetch(std::size_t index, Fetched& tensor) {
    DLManagedTensorVersioned* raw = nullptr;
    Result result =
        call(table().request_fetch, request, MODELRUN_OUTPUT, index, &raw);
    tensor.reset(raw);
    return result;
  }
  void input(std::size_t index, const View& view) {
    require_ok(try_input(index, view));
  }
  void output(std::size_t index, const View& view) {
    require_ok(try_bind(MODELRUN_OUTPUT, index, &view.tensor));
  }
  void run() { require_ok(try_run()); }
  Fetched fetch(std::size_t index) {
    Fetched tensor;
    require_ok(try_fetch(index, tensor));
    return tensor;
  }

  const modelrun_signature& signature;
  modelrun_request* request = nullptr;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path,
                       const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The program of a fixture that has one.
inline std::filesystem::path program(const std::string& fixture) {
  return testing::fixture(fixture, "executorch").path / "model.pte";
}

/// A backend on the runtime that the library finds, and a folder for files;
/// skips without one.
class ExecuTorchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (plugin_file().empty()) GTEST_SKIP() << "the plugin was not built";
    if (runtime_library().empty()) {
      GTEST_SKIP() << "no ExecuTorch: set MODELRUN_EXECUTORCH, or install the "
                      "package executorch in the build's Python environment";
    }
    host = std::make_unique<Host>(runtime_library());
    require_ok(call(table().backend_create, &host->host, &backend));
    std::string pattern =
        (std::filesystem::temp_directory_path() / "modelrun-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override {
    close();
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }

  /// Releases everything but what was fetched.
  void close() {
    for (auto* session : sessions) table().session_destroy(session);
    sessions.clear();
    if (backend != nullptr) table().backend_destroy(backend);
    backend = nullptr;
  }

  Result try_load(const std::filesystem::path& path,
                  const std::string& options = "{}") {
    modelrun_session* session = nullptr;
    Result result = call(table().session_create, backend, path.c_str(),
                         options.c_str(), &session);
    if (session != nullptr) sessions.push_back(session);
    return result;
  }
  modelrun_session* load(const std::filesystem::path& path,
                         const std::string& options = R"({"threads": 1})") {
    require_ok(try_load(path, options));
    return sessions.back();
  }
  nlohmann::json describe(modelrun_session* session) {
    std::string text;
    const modelrun_sink sink{sizeof(modelrun_sink), &text, append_text};
    require_ok(call(table().describe, backend, session, &sink));
    return nlohmann::json::parse(text);
  }

  std::unique_ptr<Host> host;
  modelrun_backend* backend = nullptr;
  std::vector<modelrun_session*> sessions;
  std::filesystem::path folder;
};

}  // namespace modelrun::executorch_test
