// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modelrun/exported_model.h"
#include "support/fake_backend.h"
#include "support/fake_folder.h"
#include "support/fake_program.h"

namespace modelrun::testing {

/// Builds torch pytree specs as an export records them.
struct Spec {
  using Json = nlohmann::ordered_json;

  static Json leaf() {
    return {{"type", nullptr},
            {"context", nullptr},
            {"children_spec", Json::array()}};
  }
  static Json node(const std::string& type, const Json& context,
                   std::vector<Json> children) {
    return {{"type", type},
            {"context", context.dump()},
            {"children_spec", std::move(children)}};
  }
  /// The spec of kwargs by name.
  static std::string inputs(
      const std::vector<std::pair<std::string, Json>>& kwargs) {
    Json names = Json::array();
    std::vector<Json> children;
    for (const auto& [name, spec] : kwargs) {
      names.push_back(name);
      children.push_back(spec);
    }
    return text(node("builtins.tuple", nullptr,
                     {node("builtins.tuple", nullptr, {}),
                      node("builtins.dict", names, std::move(children))}));
  }
  static std::string text(const Json& node) {
    return Json::array({1, node}).dump();
  }
};

/// An export whose programs are scripts of the fake backend.
///
/// ```
/// FakeExport fake;
/// fake.add("model", program, {{"in_constants", {{"scale", 2}}}});
/// auto model = fake.load();
/// ```
class FakeExport {
 public:
  using Json = nlohmann::ordered_json;

  FakeExport& add(const std::string& name, const FakeProgram& program,
                  Json metadata = Json::object()) {
    const std::string file = name + ".pt2";
    program.save(folder_->path() / file);
    manifest_["components"][name] = {{"file", file},
                                     {"metadata", std::move(metadata)}};
    folder_->write("export.json", manifest_.dump());
    return *this;
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept {
    return folder_->path();
  }
  [[nodiscard]] const FakeFolder& folder() const noexcept { return *folder_; }

  [[nodiscard]] ExportedModel load(LoadOptions options = {}) const {
    register_fake("fake", {"dynamo"});
    options.backend = "fake";
    return ExportedModel::from_pretrained(path(), options);
  }

 private:
  std::shared_ptr<FakeFolder> folder_ = std::make_shared<FakeFolder>();
  Json manifest_ = {{"schema_version", 1},
                    {"export_format", "dynamo"},
                    {"components", Json::object()}};
};

/// How a kwarg's tensor is recorded.
[[nodiscard]] inline nlohmann::ordered_json recorded(
    const std::vector<std::int64_t>& shape, const std::string& dtype) {
  return {{"rank", shape.size()}, {"shape", shape}, {"dtype", dtype}};
}

/// The message of the exception that `body` throws; fails when it is no `E`.
template <typename E, typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace modelrun::testing
