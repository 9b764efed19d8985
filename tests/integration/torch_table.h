// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backends.h>
#include <modelrun/tensor.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "support/golden.h"
#include "support/plugin_table.h"

namespace modelrun::torch_test {

using namespace plugin_test;

/// The runtime that the library would take; empty when there is none.
inline std::string runtime_library() {
  return find_runtime("torch").library.string();
}

/// The plugin that was built; empty when none was.
inline std::filesystem::path plugin_file() { return built_plugin("torch"); }

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
  return testing::fixture(fixture, "dynamo").path / "model.pt2";
}

/// Skips without a runtime and a plugin for it.
class TorchTest : public PluginTest {
 protected:
  void SetUp() override {
    if (plugin_file().empty()) GTEST_SKIP() << "the plugin was not built";
    if (runtime_library().empty()) {
      GTEST_SKIP() << "no torch: set MODELRUN_TORCH, or install the package "
                      "torch in the build's Python environment";
    }
    start(table(), runtime_library());
  }
};

}  // namespace modelrun::torch_test
