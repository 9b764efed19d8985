// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

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

/// Skips without a runtime and a plugin for it.
class OpenVinoTest : public PluginTest {
 protected:
  void SetUp() override {
    if (runtime().library.empty()) {
      GTEST_SKIP() << "no OpenVINO: set MODELRUN_OPENVINO, or install "
                      "requirements/openvino.txt in the build's environment";
    }
    if (!std::filesystem::exists(plugin_file())) {
      GTEST_SKIP() << "no plugin for OpenVINO " << runtime().version;
    }
    start(openvino_table(), runtime().library);
  }

  /// Writes `text` to a file of this name and loads it.
  modelrun_session* load_text(
      const std::string& text, const std::string& name = "model.xml",
      const std::string& options = R"({"threads": 1})") {
    std::ofstream(folder / name, std::ios::binary) << text;
    return load(folder / name, options);
  }
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
