// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "backend/runtime_library.h"
#include "modelrun/backends.h"
#include "onnxruntime_graph.h"
#include "support/plugin_table.h"

namespace modelrun::openvino_test {

using namespace plugin_test;

inline const RuntimeSearch& runtime() {
  static const RuntimeSearch found = find_runtime("openvino");
  return found;
}

/// The plugin that is built for the runtime found.
inline std::string plugin_file() {
  return MODELRUN_PLUGIN_DIR "/modelrun_openvino-" + runtime().version + ".so";
}

/// The plugin's table, opened as the library opens it.
inline const modelrun_backend_table& openvino_table() {
  static const auto& table = [&]() -> const modelrun_backend_table& {
    open_runtime_library(runtime().library, "libopenvino.so");
    return open_table(plugin_file());
  }();
  return table;
}

class Call : public plugin_test::Call {
 public:
  explicit Call(modelrun_session* session)
      : plugin_test::Call(openvino_table(), session) {}

  void state(std::size_t index, const View& view) {
    require_ok(try_bind(MODELRUN_STATE, index, &view.tensor));
  }
};

/// A backend on the runtime that the library finds, and a folder for programs;
/// skips without one.
class OpenVinoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runtime().library.empty()) {
      GTEST_SKIP() << "no OpenVINO: set MODELRUN_OPENVINO, or install "
                      "requirements/openvino.txt in the build's environment";
    }
    if (!std::filesystem::exists(plugin_file())) {
      GTEST_SKIP() << "no plugin for OpenVINO " << runtime().version;
    }
    host = std::make_unique<Host>(runtime().library.c_str());
    require_ok(call(openvino_table().backend_create, &host->host, &backend));
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
    for (auto* session : sessions) openvino_table().session_destroy(session);
    sessions.clear();
    if (backend != nullptr) openvino_table().backend_destroy(backend);
    backend = nullptr;
  }

  Result try_load(const std::filesystem::path& path,
                  const std::string& options = R"({"threads": 1})") {
    modelrun_session* session = nullptr;
    Result result = call(openvino_table().session_create, backend, path.c_str(),
                         options.c_str(), &session);
    if (session != nullptr) sessions.push_back(session);
    return result;
  }
  modelrun_session* load(const std::filesystem::path& path,
                         const std::string& options = R"({"threads": 1})") {
    require_ok(try_load(path, options));
    return sessions.back();
  }
  /// Writes `text` to a file of this name and loads it.
  modelrun_session* load_text(
      const std::string& text, const std::string& name = "model.xml",
      const std::string& options = R"({"threads": 1})") {
    std::ofstream(folder / name, std::ios::binary) << text;
    return load(folder / name, options);
  }
  static const modelrun_signature& signature(modelrun_session* session) {
    return *openvino_table().session_signature(session);
  }
  std::string describe(modelrun_session* session) {
    Result result;
    std::string text;
    const modelrun_sink sink = sink_to(text);
    require_ok(call(openvino_table().describe, backend, session, &sink));
    return text;
  }

  std::unique_ptr<Host> host;
  modelrun_backend* backend = nullptr;
  std::vector<modelrun_session*> sessions;
  std::filesystem::path folder;
};

/// Where a port of this name is.
inline std::size_t index_of(const modelrun_port* ports, std::size_t count,
                            const std::string& name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (ports[i].name == name) return i;
  }
  throw std::runtime_error("no port " + name);
}

}  // namespace modelrun::openvino_test
