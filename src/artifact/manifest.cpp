// SPDX-License-Identifier: Apache-2.0
#include "artifact/manifest.h"

#include <array>
#include <cstddef>
#include <utility>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "artifact/pytree.h"
#include "modelrun/error.h"
#include "modelrun/log.h"

namespace modelrun {
namespace {

constexpr std::size_t kMaxRank = 64;

std::string below(const std::string& where, std::string_view key) {
  return where + "." + std::string(key.substr(0, 64));
}

// A field that Python may have left out or written as None has its default.
const Json* find_set(const Json::object_t& fields, std::string_view key) {
  const Json* value = json_find(fields, key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string read_text(const Json::object_t& fields, std::string_view key,
                      const std::string& where) {
  const Json* value = find_set(fields, key);
  return value == nullptr ? "" : json_string(*value, below(where, key));
}

// torch has dtypes that no tensor here can have, and gets more of them.
bool is_foreign_dtype(std::string_view name) {
  constexpr std::array<std::string_view, 7> kPrefixes = {
      "float", "complex", "bits", "qint", "quint", "int", "uint"};
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    const char next = name[prefix.size()];
    if (next >= '0' && next <= '9') return true;
  }
  return false;
}

std::optional<DType> read_dtype(const Json::object_t& fields,
                                std::string_view key,
                                const std::string& where) {
  const Json* value = find_set(fields, key);
  if (value == nullptr) return std::nullopt;
  const std::string& name = json_string(*value, below(where, key));
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype && !is_foreign_dtype(name)) {
    fail_json(below(where, key), "the name of a dtype, such as 'float32'",
              *value);
  }
  return dtype;
}

TensorSpec read_tensor(const Json::object_t& fields, const std::string& where) {
  TensorSpec tensor;
  tensor.dtype = read_dtype(fields, "dtype", where);
  const std::string at = below(where, "shape");
  const Json& shape = *json_find(fields, "shape");
  const Json::array_t& sizes = json_array(shape, at);
  if (sizes.size() > kMaxRank) {
    fail_json(at, "at most " + std::to_string(kMaxRank) + " axes", shape);
  }
  for (const Json& size : sizes) {
    tensor.shape.push_back(json_integer(size, at));
    if (tensor.shape.back() < 0) fail_json(at, "sizes of 0 or more", size);
  }
  if (const Json* rank = find_set(fields, "rank")) {
    const std::int64_t axes = json_integer(*rank, below(where, "rank"));
    if (axes != static_cast<std::int64_t>(sizes.size())) {
      fail_json(below(where, "rank"),
                std::to_string(sizes.size()) + ", as shape has it", *rank);
    }
  }
  return tensor;
}

// Leaves of nested mappings get dotted paths; a leaf that is no tensor has
// nothing to record.
void read_leaves(const Json& value, const std::string& path,
                 const std::string& where, KwargSpec& kwarg) {
  for (const auto& [key, leaf] : json_object(value, where)) {
    const std::string leaf_path = path.empty() ? key : path + "." + key;
    const std::string at = below(where, key);
    const Json::object_t& fields = json_object(leaf, at);
    if (const Json* nested = find_set(fields, "leaves")) {
      read_leaves(*nested, leaf_path, below(at, "leaves"), kwarg);
    } else if (find_set(fields, "shape") != nullptr) {
      kwarg.leaves.emplace_back(leaf_path, read_tensor(fields, at));
    }
  }
}

KwargSpec read_kwarg(const std::string& name, const Json& value,
                     const std::string& where) {
  KwargSpec kwarg;
  kwarg.name = name;
  const Json::object_t& fields = json_object(value, where);
  if (find_set(fields, "shape") != nullptr) {
    kwarg.tensor = read_tensor(fields, where);
  } else if (find_set(fields, "dtype") != nullptr ||
             find_set(fields, "rank") != nullptr) {
    throw InvalidArgument(where + ".shape: is missing");
  }
  if (const Json* leaves = find_set(fields, "leaves")) {
    read_leaves(*leaves, "", below(where, "leaves"), kwarg);
  }
  kwarg.container = read_text(fields, "container", where);
  return kwarg;
}

std::vector<std::pair<std::size_t, Scalar>> read_out_constants(
    const Json::object_t& fields, const std::string& where) {
  std::vector<std::pair<std::size_t, Scalar>> constants;
  const Json* value = find_set(fields, "out_constants");
  if (value == nullptr) return constants;
  const std::string at = below(where, "out_constants");
  const Json::array_t& items = json_array(*value, at);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item_at = at + "[" + std::to_string(i) + "]";
    const Json::array_t& pair = json_array(items[i], item_at);
    if (pair.size() != 2) {
      fail_json(item_at, "a pair of a leaf index and a value", items[i]);
    }
    const std::int64_t index = json_integer(pair[0], item_at + "[0]");
    if (index < 0) fail_json(item_at + "[0]", "an index of 0 or more", pair[0]);
    constants.emplace_back(static_cast<std::size_t>(index),
                           json_scalar(pair[1], item_at + "[1]"));
  }
  return constants;
}

void read_specs(const Json::object_t& fields, const std::string& where,
                Metadata& metadata) {
  if (const Json* spec = find_set(fields, "in_spec")) {
    const std::string at = below(where, "in_spec");
    metadata.in_spec = std::make_shared<const Structure>(
        parse_in_spec(json_string(*spec, at), at));
  }
  const auto constants = read_out_constants(fields, where);
  if (const Json* spec = find_set(fields, "out_spec")) {
    const std::string at = below(where, "out_spec");
    metadata.out_spec = std::make_shared<const Structure>(
        parse_out_spec(json_string(*spec, at), constants, at));
  }
}

Metadata read_metadata(const Json& value, const std::string& where) {
  Metadata metadata;
  const Json::object_t& fields = json_object(value, where);
  metadata.architecture = read_text(fields, "architecture", where);
  metadata.export_device = read_text(fields, "export_device", where);
  metadata.export_dtype = read_dtype(fields, "export_dtype", where);
  if (const Json* packages = find_set(fields, "packages")) {
    const std::string at = below(where, "packages");
    for (const auto& [name, version] : json_object(*packages, at)) {
      metadata.packages.emplace_back(name,
                                     json_string(version, below(at, name)));
    }
  }
  if (const Json* config = find_set(fields, "export_config")) {
    static_cast<void>(json_object(*config, below(where, "export_config")));
    metadata.export_config = config->dump();
  }
  if (const Json* kwargs = find_set(fields, "kwargs")) {
    const std::string at = below(where, "kwargs");
    for (const auto& [name, kwarg] : json_object(*kwargs, at)) {
      metadata.kwargs.push_back(read_kwarg(name, kwarg, below(at, name)));
    }
  }
  if (const Json* constants = find_set(fields, "in_constants")) {
    const std::string at = below(where, "in_constants");
    for (const auto& [name, scalar] : json_object(*constants, at)) {
      metadata.in_constants.emplace_back(name,
                                         json_scalar(scalar, below(at, name)));
    }
  }
  read_specs(fields, where, metadata);
  return metadata;
}

// A component's name is shown, typed and made into file names.
void check_name(const std::string& name, const std::string& where) {
  const bool sane = !name.empty() && name.size() <= 255 && name != "." &&
                    name != ".." &&
                    name.find_first_of("/\\") == std::string::npos;
  bool control = false;
  for (const char c : name) control = control || (c >= 0 && c < 0x20);
  if (!sane || control) {
    throw InvalidArgument(where +
                          ": expected a component's name of 1 to 255 "
                          "characters without slashes, got " +
                          printable(name));
  }
}

ManifestComponent read_component(const std::string& name, const Json& value,
                                 const std::string& where) {
  ManifestComponent component;
  component.name = name;
  const Json::object_t& fields = json_object(value, where);
  const Json* file = json_find(fields, "file");
  if (file == nullptr) throw InvalidArgument(where + ".file: is missing");
  component.file = json_string(*file, where + ".file");
  if (component.file.empty()) {
    fail_json(where + ".file", "the name of the program's file", *file);
  }
  if (const Json* metadata = find_set(fields, "metadata")) {
    component.metadata = read_metadata(*metadata, where + ".metadata");
  }
  return component;
}

void warn_if_newer(std::int64_t version, const std::string& source) {
  if (version <= kManifestSchema) return;
  log(LogLevel::warning,
      source + ": schema_version " + std::to_string(version) +
          " is newer than the " + std::to_string(kManifestSchema) +
          " that this modelrun reads: fields may be ignored or misread; "
          "update modelrun");
}

}  // namespace

Manifest parse_manifest(std::string_view text, const std::string& source) {
  const Json root = parse_json(text, source);
  const Json::object_t& fields = json_object(root, source);
  Manifest manifest;
  if (const Json* version = find_set(fields, "schema_version")) {
    const std::string at = source + ": schema_version";
    manifest.schema_version = json_integer(*version, at);
    if (manifest.schema_version < 1) {
      fail_json(at, "an integer of 1 or more", *version);
    }
  }
  warn_if_newer(manifest.schema_version, source);
  const Json* format = json_find(fields, "export_format");
  if (format == nullptr) {
    throw InvalidArgument(source + ": export_format: is missing");
  }
  manifest.export_format = json_string(*format, source + ": export_format");
  if (manifest.export_format.empty()) {
    fail_json(source + ": export_format", "a name, such as 'onnx'", *format);
  }
  const Json* components = json_find(fields, "components");
  if (components == nullptr) {
    throw InvalidArgument(source + ": components: is missing");
  }
  const std::string at = source + ": components";
  for (const auto& [name, value] : json_object(*components, at)) {
    check_name(name, at);
    manifest.components.push_back(read_component(name, value, below(at, name)));
  }
  if (manifest.components.empty()) {
    throw InvalidArgument(at + ": expected at least one component, got none");
  }
  return manifest;
}

}  // namespace modelrun
