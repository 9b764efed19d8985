// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <modelrun/backend.h>
#include <modelrun/backends.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "onnxruntime_graph.h"

namespace modelrun::onnxruntime_test {

/// The plugin's table, opened as the library opens it.
inline const modelrun_backend_table& onnxruntime_table() {
  static const auto* table = [] {
    void* library =
        dlopen(MODELRUN_PLUGIN_DIR "/modelrun_onnxruntime.so",
               RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto entry = reinterpret_cast<modelrun_backend_entry>(
        dlsym(library, MODELRUN_BACKEND_ENTRY));
    return entry();
  }();
  return *table;
}

/// The runtime that the library would take; empty when there is none.
inline std::string runtime_library() {
  return find_runtime("onnxruntime").library.string();
}

inline void append_text(void* context, const char* text, std::size_t length) {
  static_cast<std::string*>(context)->append(text, length);
}

inline modelrun_sink sink_to(std::string& text) {
  return {sizeof(modelrun_sink), &text, append_text};
}

/// Calls `function(arguments..., &sink)`; `text` is what was written.
struct Result {
  modelrun_status status = MODELRUN_OK;
  std::string text;
};

template <typename Function, typename... Arguments>
Result call(Function function, Arguments... arguments) {
  Result result;
  const modelrun_sink sink = sink_to(result.text);
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

/// A host that keeps what is logged.
struct Host {
  explicit Host(const char* path)
      : host{sizeof(modelrun_host), this, log, path} {}
  static void log(void* context, modelrun_log_level level, const char* text,
                  std::size_t length) {
    auto* self = static_cast<Host*>(context);
    const std::lock_guard lock(self->mutex);
    self->levels.push_back(level);
    self->lines.emplace_back(text, length);
  }

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

  std::vector<std::int64_t> dims;
  DLTensor tensor{};
};

using Floats = std::vector<float>;

inline testing::AssertionResult has(const std::string& text,
                                    const std::string& part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "expected to find: " << part << "\n  in: " << text;
}

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
  const DLTensor& view = tensor->dl_tensor;
  std::size_t count = 1;
  for (int axis = 0; axis < view.ndim; ++axis) {
    count *= static_cast<std::size_t>(view.shape[axis]);
  }
  const auto* data = static_cast<const T*>(view.data);
  return count == 0 ? std::vector<T>{} : std::vector<T>(data, data + count);
}

/// One request on one session; `run` and `fetch` expect success.
class Call {
 public:
  explicit Call(modelrun_session* session) {
    require_ok(call(onnxruntime_table().request_create, session, &request));
  }
  ~Call() { onnxruntime_table().request_destroy(request); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Result try_bind(modelrun_port_kind kind, std::size_t index,
                  const DLTensor* tensor) {
    return call(onnxruntime_table().request_bind, request, kind, index, tensor);
  }
  Result try_run() { return call(onnxruntime_table().request_run, request); }
  Result try_fetch(std::size_t index, Fetched& tensor) {
    DLManagedTensorVersioned* raw = nullptr;
    Result result = call(onnxruntime_table().request_fetch, request,
                         MODELRUN_OUTPUT, index, &raw);
    tensor.reset(raw);
    return result;
  }
  void input(std::size_t index, const View& view) {
    require_ok(try_bind(MODELRUN_INPUT, index, &view.tensor));
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

  modelrun_request* request = nullptr;
};

/// A backend on the runtime that the library finds, and a folder for graphs;
/// skips without one.
class OnnxRuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    library = runtime_library();
    if (library.empty()) {
      GTEST_SKIP() << "no ONNX Runtime: set MODELRUN_ONNXRUNTIME, or make the "
                      "build's Python environment";
    }
    host = std::make_unique<Host>(library.c_str());
    const Result made =
        call(onnxruntime_table().backend_create, &host->host, &backend);
    ASSERT_EQ(made.status, MODELRUN_OK) << made.text;
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
    for (auto* session : sessions) onnxruntime_table().session_destroy(session);
    sessions.clear();
    onnxruntime_table().backend_destroy(backend);
    backend = nullptr;
  }

  Result try_load(const std::filesystem::path& path, const char* options,
                  modelrun_session** session) {
    return call(onnxruntime_table().session_create, backend, path.c_str(),
                options, session);
  }
  /// Writes `graph` to a file and loads it.
  Result try_load(const Graph& graph, const char* options = "{}") {
    const auto path = folder / "model.onnx";
    write_file(path, graph.text());
    modelrun_session* session = nullptr;
    Result result = try_load(path, options, &session);
    if (session != nullptr) sessions.push_back(session);
    return result;
  }
  modelrun_session* load(const Graph& graph,
                         const char* options = R"({"threads": 1})") {
    require_ok(try_load(graph, options));
    return sessions.back();
  }
  const modelrun_signature& signature(modelrun_session* session) {
    return *onnxruntime_table().session_signature(session);
  }

  std::string library;
  std::unique_ptr<Host> host;
  modelrun_backend* backend = nullptr;
  std::vector<modelrun_session*> sessions;
  std::filesystem::path folder;
};

}  // namespace modelrun::onnxruntime_test
