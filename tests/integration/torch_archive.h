// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace modelrun::torch_test {

using Json = nlohmann::ordered_json;

/// A zip file of stored records, below the one folder that torch writes.
class ZipFile {
 public:
  ZipFile& add(const std::string& name, const std::string& bytes,
               int method = 0) {
    const std::string path = "model/" + name;
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
              static_cast<uInt>(bytes.size())));
    const auto offset = body_.size();
    last_ = {crc, bytes.size(), offset};
    // Data begins at a multiple of 64, as torch has it.
    const std::size_t padding = (64 - (offset + 30 + path.size()) % 64) % 64;
    body_ += number(0x04034b50, 4) + fields(path, method) + number(padding, 2) +
             path + std::string(padding, 'x') + bytes;
    add_entry(path, method);
    return *this;
  }
  /// The last record once more, under another name.
  ZipFile& add_again(const std::string& name) {
    add_entry("model/" + name, 0);
    return *this;
  }
  [[nodiscard]] std::string text() const {
    return body_ + directory_ + number(0x06054b50, 4) + number(0, 4) +
           number(count_, 2) + number(count_, 2) +
           number(directory_.size(), 4) + number(body_.size(), 4) +
           number(0, 2);
  }

 private:
  static std::string number(std::size_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i) {
      text += i < 8 ? static_cast<char>(value >> (8 * i) & 0xFF) : '\0';
    }
    return text;
  }
  std::string fields(const std::string& path, int method) const {
    return number(20, 2) + number(0, 2) +
           number(static_cast<std::size_t>(method), 2) + number(0, 4) +
           number(last_.crc, 4) + number(last_.size, 4) +
           number(last_.size, 4) + number(path.size(), 2);
  }
  void add_entry(const std::string& path, int method) {
    directory_ += number(0x02014b50, 4) + number(20, 2) + fields(path, method) +
                  number(0, 2) + number(0, 10) + number(last_.offset, 4) + path;
    ++count_;
  }

  struct Last {
    std::uint32_t crc = 0;
    std::size_t size = 0;
    std::size_t offset = 0;
  };
  Last last_;
  std::string body_;
  std::string directory_;
  std::size_t count_ = 0;
};

inline Json tensor(const std::string& name) {
  return {{"as_tensor", {{"name", name}}}};
}
inline Json size(const std::string& name) {
  return {{"as_sym_int", {{"as_name", name}}}};
}
inline Json symbol(const std::string& name) {
  return {
      {"as_expr",
       {{"expr_str", "Symbol('" + name + "', positive=True, integer=True)"}}}};
}
inline Json number(std::int64_t value) { return {{"as_int", value}}; }

/// A braced list of one would be a copy of it.
inline Json list(const std::vector<Json>& items) { return Json(items); }

/// A torch.export archive as `torch.export.save` writes it, of float32 tensors.
class ProgramFile {
 public:
  ProgramFile() {
    program = {
        {"graph_module",
         {{"graph",
           {{"inputs", Json::array()},
            {"outputs", Json::array()},
            {"nodes", Json::array()},
            {"tensor_values", Json::object()}}},
          {"signature",
           {{"input_specs", Json::array()}, {"output_specs", Json::array()}}},
          {"module_call_graph", Json::array()}}},
        {"range_constraints", Json::object()},
        {"schema_version", {{"major", 8}, {"minor", 20}}},
        {"torch_version", "2.15.0"},
        {"guards_code", Json::array()}};
  }

  ProgramFile& value(const std::string& name, const Json& sizes,
                     int dtype = 7) {
    graph()["tensor_values"][name] = {{"dtype", dtype}, {"sizes", sizes}};
    return *this;
  }
  ProgramFile& input(const std::string& name, const Json& sizes,
                     int dtype = 7) {
    value(name, sizes, dtype);
    return user_input(name, tensor(name));
  }
  ProgramFile& user_input(const std::string& name, const Json& argument) {
    graph()["inputs"].push_back(argument);
    specs("input_specs").push_back({{"user_input", {{"arg", argument}}}});
    names_.push_back(name);
    return *this;
  }
  /// A persistent buffer of floats.
  ProgramFile& buffer(const std::string& name,
                      const std::vector<float>& values) {
    const std::string record = "weight_" + std::to_string(weights_.size());
    weights_.emplace_back(
        record, std::string(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(float)));
    const Json count = {{"as_int", values.size()}};
    config[name] = {{"path_name", record},
                    {"is_param", false},
                    {"use_pickle", false},
                    {"tensor_meta",
                     {{"dtype", 7},
                      {"sizes", list({count})},
                      {"requires_grad", false},
                      {"strides", list({number(1)})},
                      {"storage_offset", {{"as_int", 0}}},
                      {"layout", 7}}}};
    value(name, list({count}));
    graph()["inputs"].push_back(tensor(name));
    specs("input_specs")
        .push_back({{"buffer",
                     {{"arg", {{"name", name}}},
                      {"buffer_name", name},
                      {"persistent", true}}}});
    return *this;
  }
  /// `arguments` are pairs of a parameter and a serialized argument.
  ProgramFile& node(const std::string& target,
                    const std::vector<std::pair<std::string, Json>>& arguments,
                    const std::vector<Json>& outputs) {
    Json inputs = Json::array();
    for (const auto& [parameter, argument] : arguments) {
      inputs.push_back({{"name", parameter}, {"arg", argument}, {"kind", 1}});
    }
    graph()["nodes"].push_back(
        {{"target", target},
         {"inputs", inputs},
         {"outputs", outputs},
         {"name", "n" + std::to_string(graph()["nodes"].size())}});
    return *this;
  }
  ProgramFile& output(const Json& argument) {
    graph()["outputs"].push_back(argument);
    specs("output_specs").push_back({{"user_output", {{"arg", argument}}}});
    return *this;
  }
  ProgramFile& guard(const std::string& text) {
    program["guards_code"].push_back(text);
    return *this;
  }

  Json& graph() { return program["graph_module"]["graph"]; }
  Json& specs(const char* kind) {
    return program["graph_module"]["signature"][kind];
  }

  [[nodiscard]] ZipFile zip() {
    write_call_graph();
    ZipFile file;
    file.add("models/model.json", program.dump());
    for (const auto& [name, bytes] : weights_) {
      file.add("data/weights/" + name, bytes);
    }
    file.add("data/weights/model_weights_config.json",
             Json{{"config", config}}.dump());
    file.add("data/constants/model_constants_config.json", R"({"config": {}})");
    file.add("byteorder", "little");
    return file;
  }
  [[nodiscard]] std::string text() { return zip().text(); }

  Json program;
  Json config = Json::object();

 private:
  /// All inputs are kwargs.
  void write_call_graph() {
    const Json leaf = {
        {"type", nullptr}, {"context", nullptr}, {"children_spec", {}}};
    Json leaves = Json::array();
    for (std::size_t i = 0; i < names_.size(); ++i) leaves.push_back(leaf);
    for (Json& each : leaves) each["children_spec"] = Json::array();
    const Json args = {{"type", "builtins.tuple"},
                       {"context", "null"},
                       {"children_spec", Json::array()}};
    const Json kwargs = {{"type", "builtins.dict"},
                         {"context", Json(names_).dump()},
                         {"children_spec", leaves}};
    Json all = {{"type", "builtins.tuple"}, {"context", "null"}};
    all["children_spec"] = Json::array({args, kwargs});
    const Json spec = Json::array({1, all});
    program["graph_module"]["module_call_graph"] = Json::array(
        {{{"fqn", ""},
          {"signature",
           {{"in_spec", spec.dump()}, {"forward_arg_names", names_}}}}});
  }

  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::string>> weights_;
};

}  // namespace modelrun::torch_test
