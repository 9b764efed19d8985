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
#include "support/plugin_table.h"

namespace modelrun::onnxruntime_test {

using namespace plugin_test;

/// The plugin's table, opened as the library opens it.
inline const modelrun_backend_table& onnxruntime_table() {
  static const auto& table =
      open_table(MODELRUN_PLUGIN_DIR "/modelrun_onnxruntime.so");
  return table;
}

/// The runtime that the library would take; empty when there is none.
inline std::string runtime_library() {
  return find_runtime("onnxruntime").library.string();
}

/// One request on one session of this plugin.
class Call : public plugin_test::Call {
 public:
  explicit Call(modelrun_session* session)
      : plugin_test::Call(onnxruntime_table(), session) {}
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
