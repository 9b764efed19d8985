// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace modelrun::testing {

/// A port of a fake program.
struct FakePort {
  std::string name;
  std::string dtype = "float32";
  std::vector<std::int64_t> dims;
  /// One per axis, empty for none; may be left out.
  std::vector<std::string> symbols = {};
  std::vector<std::string> aliases = {};
  /// An output that the program says is a number and no tensor.
  bool number = false;
};

/// Writes programs for the fake backend; `src/backends/fake/script.h` says what
/// they can do.
///
/// ```
/// FakeProgram program;
/// program.input({.name = "x", .dims = {-1, 4}, .symbols = {"batch", ""}})
///     .echo({.name = "y", .dims = {-1, 4}}, "x");
/// program.save(folder.path() / "model.json");
/// ```
class FakeProgram {
 public:
  using Json = nlohmann::json;

  FakeProgram& input(const FakePort& port) {
    return add("inputs", port, Json::object());
  }
  /// An output of zeros.
  FakeProgram& zeros(const FakePort& port) {
    return add("outputs", port, Json::object());
  }
  /// An output with the bytes and the shape of an input.
  FakeProgram& echo(const FakePort& port, const std::string& input) {
    return add("outputs", port, {{"from", input}});
  }
  /// An output with the value of a state, after the run has advanced it.
  FakeProgram& echo_state(const FakePort& port, const std::string& state) {
    return add("outputs", port, {{"state", state}});
  }
  FakeProgram& sum(const FakePort& port, const std::string& a,
                   const std::string& b) {
    return add("outputs", port, {{"sum", {a, b}}});
  }
  FakeProgram& fill(const FakePort& port, double value) {
    return add("outputs", port, {{"fill", value}});
  }
  /// An output of fixed dims with these elements.
  FakeProgram& values(const FakePort& port, std::vector<double> values) {
    return add("outputs", port, {{"values", std::move(values)}});
  }
  /// A state that becomes a copy of an input at each run.
  FakeProgram& state(const FakePort& port, const std::string& input) {
    return add("states", port, {{"from", input}});
  }
  /// A state that grows by an input, along an axis, at each run.
  FakeProgram& growing_state(const FakePort& port, const std::string& input,
                             std::size_t axis) {
    return add("states", port, {{"append", input}, {"axis", axis}});
  }
  /// Makes `"create"`, `"request"`, `"bind"`, `"run"` or `"fetch"` fail with a
  /// `"backend_error"`, `"invalid_argument"`, `"not_found"` or
  /// `"unsupported"`; the first `times` calls, or all.
  FakeProgram& fail(const std::string& at, const std::string& status,
                    const std::string& message, int times = -1) {
    json_["fail"] = {
        {"at", at}, {"status", status}, {"message", message}, {"times", times}};
    return *this;
  }
  FakeProgram& delay(int milliseconds) {
    json_["delay_ms"] = milliseconds;
    return *this;
  }
  FakeProgram& wait_for_cancel() {
    json_["wait_for_cancel"] = true;
    return *this;
  }
  /// Option keys that it takes besides `device` and `threads`.
  FakeProgram& options(std::vector<std::string> keys) {
    json_["options"] = std::move(keys);
    return *this;
  }

  [[nodiscard]] std::string text() const { return json_.dump(2); }
  std::filesystem::path save(const std::filesystem::path& file) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text();
    return file;
  }

 private:
  FakeProgram& add(const char* list, const FakePort& port, Json json) {
    json["name"] = port.name;
    json["dtype"] = port.dtype;
    json["dims"] = port.dims;
    json["aliases"] = port.aliases;
    if (port.number) json["number"] = true;
    if (!port.symbols.empty()) json["symbols"] = port.symbols;
    json_[list].push_back(std::move(json));
    return *this;
  }

  Json json_ = Json::object();
};

}  // namespace modelrun::testing
