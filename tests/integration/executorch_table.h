// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backends.h>
#include <modelrun/tensor.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/golden.h"
#include "support/plugin_table.h"

namespace modelrun::executorch_test {

using namespace plugin_test;

/// The runtime that the library would take; empty when there is none.
inline std::string runtime_library() {
  return find_runtime("executorch").library.string();
}

/// The plugin that was built; empty when none was.
inline std::filesystem::path plugin_file() {
  return built_plugin("executorch");
}

/// The plugin's table, opened as the library opens it: the runtime first.
inline const modelrun_backend_table& table() {
  static const auto* opened = [] {
    if (dlopen(runtime_library().c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      throw std::runtime_error(dlerror());
    }
    return &open_table(plugin_file());
  }();
  return *opened;
}

/// A DLTensor over a tensor of the library's.
inline View view_of(const Tensor& value, DLDataType dtype) {
  return View(value.raw_data(), dtype,
              {value.shape().begin(), value.shape().end()});
}

/// One request on one session of this plugin.
class Call : public plugin_test::Call {
 public:
  explicit Call(modelrun_session* session)
      : plugin_test::Call(executorch_test::table(), session),
        signature(*executorch_test::table().session_signature(session)) {}

  Result try_input(std::size_t index, const View& view) {
    return try_bind(MODELRUN_INPUT, index, &view.tensor);
  }

  const modelrun_signature& signature;
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

/// Skips without a runtime and a plugin for it.
class ExecuTorchTest : public PluginTest {
 protected:
  void SetUp() override {
    if (plugin_file().empty()) GTEST_SKIP() << "the plugin was not built";
    if (runtime_library().empty()) {
      GTEST_SKIP() << "no ExecuTorch: set MODELRUN_EXECUTORCH, or install the "
                      "package executorch in the build's Python environment";
    }
    start(table(), runtime_library());
  }
};

}  // namespace modelrun::executorch_test
