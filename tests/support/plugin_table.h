// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <modelrun/backend.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A plugin through its raw table, as the library uses it.
namespace modelrun::plugin_test {

/// The table of the plugin in `file`.
inline const modelrun_backend_table& open_table(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<modelrun_backend_entry>(
      dlsym(library, MODELRUN_BACKEND_ENTRY));
  if (entry == nullptr) throw std::runtime_error(dlerror());
  return *entry();
}

/// The plugin that was built for a release of this runtime; empty when none
/// was.
inline std::filesystem::path built_plugin(const std::string& name) {
  const std::string prefix = "modelrun_" + name + "-";
  for (const auto& entry :
       std::filesystem::directory_iterator(MODELRUN_PLUGIN_DIR)) {
    const auto file = entry.path().filename().string();
    if (file.starts_with(prefix)) return entry.path();
  }
  return {};
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
  /// `path` may be NULL.
  explicit Host(const char* path)
      : library(path == nullptr ? "" : path),
        host{sizeof(modelrun_host), this, log,
             path == nullptr ? nullptr : library.c_str()} {}
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

  std::vector<std::int64_t> dims;
  DLTensor tensor{};
};

using Floats = std::vector<float>;

inline ::testing::AssertionResult has(const std::string& text,
                                      const std::string& part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
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
  Call(const modelrun_backend_table& used, modelrun_session* session)
      : table(used) {
    require_ok(call(table.request_create, session, &request));
  }
  ~Call() { table.request_destroy(request); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Result try_bind(modelrun_port_kind kind, std::size_t index,
                  const DLTensor* tensor) {
    return call(table.request_bind, request, kind, index, tensor);
  }
  Result try_run() { return call(table.request_run, request); }
  Result try_fetch(std::size_t index, Fetched& tensor,
                   modelrun_port_kind kind = MODELRUN_OUTPUT) {
    DLManagedTensorVersioned* raw = nullptr;
    Result result = call(table.request_fetch, request, kind, index, &raw);
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
  Fetched fetch(std::size_t index, modelrun_port_kind kind = MODELRUN_OUTPUT) {
    Fetched tensor;
    require_ok(try_fetch(index, tensor, kind));
    return tensor;
  }

  const modelrun_backend_table& table;
  modelrun_request* request = nullptr;
};

/// A backend, its sessions, and a folder for files. A plugin's own fixture
/// calls `start` where there is a runtime, and skips where there is none.
class PluginTest : public ::testing::Test {
 protected:
  void start(const modelrun_backend_table& used, const std::string& library) {
    backend_table = &used;
    host = std::make_unique<Host>(library.c_str());
    require_ok(call(backend_table->backend_create, &host->host, &backend));
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
    for (auto* session : sessions) backend_table->session_destroy(session);
    sessions.clear();
    if (backend != nullptr) backend_table->backend_destroy(backend);
    backend = nullptr;
  }

  Result try_load(const std::filesystem::path& path,
                  const std::string& options = "{}") {
    modelrun_session* session = nullptr;
    Result result = call(backend_table->session_create, backend, path.c_str(),
                         options.c_str(), &session);
    if (session != nullptr) sessions.push_back(session);
    return result;
  }
  modelrun_session* load(const std::filesystem::path& path,
                         const std::string& options = R"({"threads": 1})") {
    require_ok(try_load(path, options));
    return sessions.back();
  }
  const modelrun_signature& signature(modelrun_session* session) const {
    return *backend_table->session_signature(session);
  }
  /// Of a session, or of the backend (NULL).
  nlohmann::json describe(modelrun_session* session) {
    std::string text;
    const modelrun_sink sink = sink_to(text);
    require_ok(call(backend_table->describe, backend, session, &sink));
    return nlohmann::json::parse(text);
  }

  const modelrun_backend_table* backend_table = nullptr;
  std::unique_ptr<Host> host;
  modelrun_backend* backend = nullptr;
  std::vector<modelrun_session*> sessions;
  std::filesystem::path folder;
};

}  // namespace modelrun::plugin_test
