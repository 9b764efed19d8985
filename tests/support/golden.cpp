// SPDX-License-Identifier: Apache-2.0
#include "support/golden.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/tensor_difference.h"

namespace modelrun::testing {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kFixtures = MODELRUN_TEST_MODELS;

Json load_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("no " + file.string());
  return Json::parse(stream);
}

Json safetensors_metadata(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::uint64_t length = 0;
  stream.read(reinterpret_cast<char*>(&length), sizeof length);
  std::string header(length, '\0');
  stream.read(header.data(), static_cast<std::streamsize>(length));
  if (!stream) throw std::runtime_error("no header in " + file.string());
  const std::string text = Json::parse(header)["__metadata__"]["modelrun"];
  return Json::parse(text);
}

// Says float32 wherever a tree names a 16-bit float dtype.
void name_float32(Json& node) {
  if (node.is_object() && node.contains("dtype")) {
    const bool is_half =
        node["dtype"] == "bfloat16" || node["dtype"] == "float16";
    if (is_half) node["dtype"] = "float32";
  }
  if (!node.is_structured()) return;
  for (Json& child : node) name_float32(child);
}

Scalar scalar_of(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

// A constant of the tree: a plain value, or a torch dtype or device by name.
bool is_constant(const Json& node) {
  return node.contains("value") || node.contains("dtype") ||
         node.contains("device");
}

Scalar constant_of(const Json& node) { return scalar_of(node.front()); }

Structure::Key key_of(const Json& key) {
  if (key.is_number_integer()) return key.get<std::int64_t>();
  return key.get<std::string>();
}

std::string step_of(const Json& key) {
  return key.is_string() ? key.get<std::string>() : key.dump();
}

Structure structure_of(const Json& node, const Golden& golden,
                       std::vector<Tensor>& tensors) {
  if (node.contains("tensor")) {
    tensors.push_back(golden.tensor(node["tensor"]));
    return Structure::leaf(tensors.size() - 1);
  }
  if (is_constant(node)) return Structure::constant(constant_of(node));
  const std::string name = node["class"];
  const Json& children =
      node.contains("fields") ? node["fields"] : node["items"];
  const bool keyed = node.contains("fields") || name.ends_with("dict");
  std::vector<Structure> items;
  std::vector<Structure::Entry> entries;
  for (const Json& child : children) {
    if (keyed) {
      entries.push_back(
          {key_of(child[0]), structure_of(child[1], golden, tensors)});
    } else {
      items.push_back(structure_of(child, golden, tensors));
    }
  }
  if (node.contains("fields")) {
    return Structure::object(name, std::move(entries));
  }
  return keyed ? Structure::dict(std::move(entries), name)
               : Structure::tuple(std::move(items), name);
}

class Comparison {
 public:
  Comparison(const Golden& golden, double tolerance)
      : golden_(golden), tolerance_(tolerance) {}

  void compare(const Value& value, const Json& node, const std::string& path) {
    if (node.contains("tensor")) {
      compare_tensor(value, node["tensor"], path);
    } else if (is_constant(node)) {
      compare_constant(value, node, path);
    } else {
      compare_nested(value, node, path);
    }
  }

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  void differ(const std::string& path, const std::string& what) {
    text_ << (path.empty() ? "the outputs" : path) << ": " << what << "\n";
  }

  void compare_tensor(const Value& value, const std::string& name,
                      const std::string& path) {
    if (!value.is_tensor()) {
      differ(path, "expected a tensor, got " + to_string(value));
      return;
    }
    const std::string what =
        tensor_difference(value.tensor(), golden_.tensor(name), tolerance_);
    if (!what.empty()) differ(path, what);
  }

  void compare_constant(const Value& value, const Json& node,
                        const std::string& path) {
    const Scalar expected = constant_of(node);
    // A dtype or device is an object with its name, of torch's class.
    const bool is_named = !node.contains("value");
    const Value actual =
        is_named && value.contains("name") ? value["name"] : value;
    if (!actual.is_scalar() || actual.scalar() != expected) {
      differ(path,
             "expected " + to_string(expected) + ", got " + to_string(value));
    }
    if (is_named && !value.class_name().starts_with("torch.")) {
      differ(path, "expected a class of torch, got '" +
                       std::string(value.class_name()) + "'");
    }
  }

  void compare_nested(const Value& value, const Json& node,
                      const std::string& path) {
    if (value.class_name() != node["class"].get<std::string>()) {
      differ(path, "expected class " + node["class"].get<std::string>() +
                       ", got '" + std::string(value.class_name()) + "'");
      return;
    }
    const bool is_object = node.contains("fields");
    const Json& children = is_object ? node["fields"] : node["items"];
    if (value.size() != children.size()) {
      differ(path, "expected " + std::to_string(children.size()) +
                       " children, got " + to_string(value));
      return;
    }
    const bool keyed = value.kind() == Structure::Kind::object ||
                       value.kind() == Structure::Kind::dict;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const std::string step =
          keyed ? step_of(children[i][0]) : std::to_string(i);
      const std::string below = path.empty() ? step : path + "." + step;
      if (keyed && !(value.structure()->key(i) == key_of(children[i][0]))) {
        differ(below, "expected this key, got " + value.structure()->step(i));
      }
      const Json& child = keyed ? children[i][1] : children[i];
      // What a program computes, it returns as it is, not as it was traced.
      const bool is_live = value.structure()->child(i).is_number() &&
                           golden_.live.contains(below);
      compare(value[i], is_live ? Json{{"value", golden_.live[below]}} : child,
              below);
    }
  }

  const Golden& golden_;
  double tolerance_;
  std::ostringstream text_;
};

Fixture fixture_of(const Json& json) {
  Fixture fixture{.name = json["name"],
                  .format = json["format"],
                  .dtype = json["dtype"],
                  .path = kFixtures / json["path"].get<std::string>(),
                  .tolerance = json["tolerance"],
                  .runs = json["runs"],
                  .cases = {}};
  for (const Json& item : json["cases"]) {
    fixture.cases.push_back(
        {.name = item["name"],
         .component = item["component"],
         .follows = item["follows"].is_null()
                        ? ""
                        : item["follows"].get<std::string>(),
         .inputs = kFixtures / item["inputs"].get<std::string>(),
         .outputs = kFixtures / item["outputs"].get<std::string>()});
  }
  return fixture;
}

}  // namespace

std::vector<Fixture> fixtures(const std::string& format) {
  std::vector<Fixture> list;
  for (const Json& json : load_json(kFixtures / "index.json")) {
    if (json["format"] == format) list.push_back(fixture_of(json));
  }
  return list;
}

Fixture fixture(const std::string& name, const std::string& format) {
  for (Fixture& candidate : fixtures(format)) {
    if (candidate.name == name) return std::move(candidate);
  }
  throw std::runtime_error("no fixture " + name + " in format " + format);
}

const Tensor& Golden::tensor(const std::string& path) const {
  for (const auto& [name, value] : tensors) {
    if (name == path) return value.tensor();
  }
  throw std::runtime_error("no golden tensor " + path);
}

Golden load_golden(const std::filesystem::path& file) {
  Golden golden;
  for (auto& [name, value] : load_tensors(file)) {
    if (value.is_tensor()) golden.tensors.emplace_back(name, value);
  }
  const Json metadata = safetensors_metadata(file);
  golden.tree = metadata["tree"];
  golden.live = metadata.value("baked", Json::object());
  return golden;
}

NamedValues nested_kwargs(const Golden& golden) {
  NamedValues kwargs;
  for (const Json& item : golden.tree["items"]) {
    std::vector<Tensor> tensors;
    auto structure = std::make_shared<const Structure>(
        structure_of(item[1], golden, tensors));
    kwargs.emplace_back(item[0], Value(structure, std::move(tensors)));
  }
  return kwargs;
}

NamedValues flat_kwargs(const Golden& golden) {
  NamedValues kwargs = golden.tensors;
  for (const Json& item : golden.tree["items"]) {
    if (!is_constant(item[1])) continue;
    kwargs.emplace_back(item[0], Value(constant_of(item[1])));
  }
  return kwargs;
}

std::vector<Kwarg> as_kwargs(const NamedValues& values) {
  std::vector<Kwarg> kwargs;
  for (const auto& [name, value] : values) kwargs.push_back({name, value});
  return kwargs;
}

Golden with_float32(Golden golden) {
  name_float32(golden.tree);
  for (auto& [name, value] : golden.tensors) {
    const Tensor tensor = value.tensor();
    const bool is_half =
        tensor.dtype() == DType::bfloat16 || tensor.dtype() == DType::float16;
    if (!is_half) continue;
    std::vector<float> values;
    for (const double each : as_doubles(tensor)) {
      values.push_back(static_cast<float>(each));
    }
    value = Tensor::from(std::span<const float>(values), tensor.shape());
  }
  return golden;
}

std::string difference(const Value& outputs, const Golden& golden,
                       double tolerance) {
  Comparison comparison(golden, tolerance);
  comparison.compare(outputs, golden.tree, "");
  return comparison.text();
}

}  // namespace modelrun::testing
