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
inline std::filesystem::path plugin_file() {
  for (const auto& entry :
       std::filesystem::directory_iterator(MODELRUN_PLUGIN_DIR)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("modelrun_torch-")) return entry.path();
  }
  return {};
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

/// A backend on the runtime that the library finds, and a folder for files;
/// skips without one.
class TorchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (plugin_file().empty()) GTEST_SKIP() << "the plugin was not built";
    library = runtime_library();
    if (library.empty()) {
      GTEST_SKIP() << "no torch: set MODELRUN_TORCH, or install the package "
                      "torch in the build's Python environment";
    }
    host = std::make_unique<Host>(library.c_str());
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
  const modelrun_signature& signature(modelrun_session* session) {
    return *table().session_signature(session);
  }
  nlohmann::json describe(modelrun_session* session) {
    std::string text;
    const modelrun_sink sink = sink_to(text);
    require_ok(call(table().describe, backend, session, &sink));
    return nlohmann::json::parse(text);
  }

  std::string library;
  std::unique_ptr<Host> host;
  modelrun_backend* backend = nullptr;
  std::vector<modelrun_session*> sessions;
  std::filesystem::path folder;
};

}  // namespace modelrun::torch_test
