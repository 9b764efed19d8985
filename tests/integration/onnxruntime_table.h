// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backends.h>

#include <filesystem>
#include <string>

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

/// Skips without a runtime.
class OnnxRuntimeTest : public PluginTest {
 protected:
  void SetUp() override {
    library = runtime_library();
    if (library.empty()) {
      GTEST_SKIP() << "no ONNX Runtime: set MODELRUN_ONNXRUNTIME, or make the "
                      "build's Python environment";
    }
    start(onnxruntime_table(), library);
  }

  using PluginTest::load;
  using PluginTest::try_load;
  /// Writes `graph` to a file and loads it.
  Result try_load(const Graph& graph, const std::string& options = "{}") {
    const auto path = folder / "model.onnx";
    write_file(path, graph.text());
    return try_load(path, options);
  }
  modelrun_session* load(const Graph& graph,
                         const std::string& options = R"({"threads": 1})") {
    require_ok(try_load(graph, options));
    return sessions.back();
  }

  std::string library;
};

}  // namespace modelrun::onnxruntime_test
