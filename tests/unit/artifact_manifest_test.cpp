// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "artifact/manifest.h"
#include "modelrun/error.h"
#include "modelrun/log.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using nlohmann::json;
using testing::contains;
using testing::error_of;

const std::string kSpec =
    R"([1,{"type":"builtins.tuple","context":"null","children_spec":[
      {"type":"builtins.tuple","context":"null","children_spec":[]},
      {"type":"builtins.dict","context":"[\"ids\"]","children_spec":[
        {"type":null,"context":null,"children_spec":[]}]}]}])";

json whole() {
  json manifest;
  manifest["schema_version"] = 1;
  manifest["export_format"] = "onnx";
  json& component = manifest["components"]["model"];
  component["file"] = "model.onnx";
  component["metadata"] = {
      {"architecture", "BertModel"},
      {"packages", {{"torch", "2.15.0"}}},
      {"export_config", {{"dynamic", true}}},
      {"export_dtype", "float32"},
      {"export_device", "cpu"},
      {"kwargs",
       {{"ids", {{"rank", 2}, {"shape", {2, 8}}, {"dtype", "int64"}}}}},
      {"in_spec", kSpec},
      {"out_spec", kSpec},
      {"in_constants", {{"mode", "eager"}, {"flag", true}, {"none", nullptr}}},
      {"out_constants", json::array()}};
  return manifest;
}

Manifest parse(const json& manifest) {
  return parse_manifest(manifest.dump(), "export.json");
}

std::string refusal(const json& manifest) {
  return error_of<InvalidArgument>([&] { return parse(manifest); });
}

// The refusal of a whole manifest in which one value is another.
std::string refusal_at(const std::string& pointer, const json& value) {
  json manifest = whole();
  manifest[json::json_pointer(pointer)] = value;
  return refusal(manifest);
}

const std::string kMetadata = "/components/model/metadata/";

TEST(Manifest, WholeManifestIsRead) {
  const Manifest manifest = parse(whole());
  EXPECT_EQ(manifest.schema_version, 1);
  EXPECT_EQ(manifest.export_format, "onnx");
  ASSERT_EQ(manifest.components.size(), 1U);
  EXPECT_EQ(manifest.components[0].name, "model");
  EXPECT_EQ(manifest.components[0].file, "model.onnx");
  const Metadata& metadata = manifest.components[0].metadata;
  EXPECT_EQ(metadata.architecture, "BertModel");
  EXPECT_EQ(metadata.packages[0].second, "2.15.0");
  EXPECT_EQ(metadata.export_config, "{\"dynamic\":true}");
  EXPECT_EQ(metadata.export_dtype, DType::float32);
  EXPECT_EQ(metadata.export_device, "cpu");
  ASSERT_EQ(metadata.kwargs.size(), 1U);
  EXPECT_EQ(metadata.kwargs[0].tensor->dtype, DType::int64);
  const std::vector<std::int64_t> shape = {2, 8};
  EXPECT_EQ(metadata.kwargs[0].tensor->shape, shape);
  EXPECT_TRUE(metadata.in_spec->find("ids")->is_leaf());
  EXPECT_EQ(metadata.in_constants.size(), 3U);
  EXPECT_EQ(metadata.out_spec->leaf_count(), 1U);
}

TEST(Manifest, EveryFieldOfTheMetadataMayBeMissingOrNull) {
  const json manifest = whole();
  const json& metadata = manifest["components"]["model"]["metadata"];
  for (const auto& [field, value] : metadata.items()) {
    json without = manifest;
    without["components"]["model"]["metadata"].erase(field);
    EXPECT_EQ(parse(without).components.size(), 1U) << field;
    json with_null = manifest;
    with_null["components"]["model"]["metadata"][field] = nullptr;
    EXPECT_EQ(parse(with_null).components.size(), 1U) << field;
  }
  json none = manifest;
  none["components"]["model"].erase("metadata");
  none.erase("schema_version");
  const Metadata defaults = parse(none).components[0].metadata;
  EXPECT_EQ(defaults.export_config, "{}");
  EXPECT_EQ(defaults.in_spec, nullptr);
  EXPECT_FALSE(defaults.export_dtype);
}

TEST(Manifest, EveryFieldOfTheWrongTypeIsRefusedByItsPath) {
  const json manifest = whole();
  const json& metadata = manifest["components"]["model"]["metadata"];
  for (const auto& [field, value] : metadata.items()) {
    for (const json& wrong : {json(3), json("x"), json(true), json::array({1}),
                              json{{"k", json::array()}}}) {
      const bool text = value.is_string() && wrong.is_string();
      const bool same = wrong.type() == value.type();
      // Free texts take any text; an object's fields are checked below.
      if (text && (field == "architecture" || field == "export_device")) {
        continue;
      }
      if (same && field == "export_config") continue;
      const std::string message = refusal_at(kMetadata + field, wrong);
      EXPECT_TRUE(
          contains(message, "export.json: components.model.metadata." + field))
          << field << " = " << wrong << ": " << message;
    }
  }
}

TEST(Manifest, FieldsThatItNeedsAreNamedWhenMissing) {
  EXPECT_EQ(refusal(json::object()), "export.json: export_format: is missing");
  json manifest = whole();
  manifest.erase("components");
  EXPECT_EQ(refusal(manifest), "export.json: components: is missing");
  manifest = whole();
  manifest["components"]["model"].erase("file");
  EXPECT_EQ(refusal(manifest),
            "export.json: components.model.file: is missing");
  EXPECT_EQ(refusal_at("/components", json::object()),
            "export.json: components: expected at least one component, got "
            "none");
}

TEST(Manifest, OuterFieldsOfTheWrongTypeAreRefused) {
  EXPECT_EQ(refusal(json::array()),
            "export.json: expected an object, got an array of 0");
  EXPECT_EQ(refusal_at("/schema_version", "1"),
            "export.json: schema_version: expected a 64-bit integer, got the "
            "string '1'");
  EXPECT_EQ(refusal_at("/schema_version", 0),
            "export.json: schema_version: expected an integer of 1 or more, "
            "got the number 0");
  EXPECT_EQ(refusal_at("/export_format", 1),
            "export.json: export_format: expected a string, got the number 1");
  EXPECT_EQ(refusal_at("/export_format", ""),
            "export.json: export_format: expected a name, such as 'onnx', got "
            "the string ''");
  EXPECT_EQ(refusal_at("/components", 1),
            "export.json: components: expected an object, got the number 1");
  EXPECT_EQ(refusal_at("/components/model", "model.onnx"),
            "export.json: components.model: expected an object, got the "
            "string 'model.onnx'");
  EXPECT_EQ(refusal_at("/components/model/file", json::array()),
            "export.json: components.model.file: expected a string, got an "
            "array of 0");
  EXPECT_EQ(refusal_at("/components/model/file", ""),
            "export.json: components.model.file: expected the name of the "
            "program's file, got the string ''");
}

TEST(Manifest, InnerFieldsAreRefusedByTheirPaths) {
  const std::string at = "export.json: components.model.metadata.";
  EXPECT_EQ(refusal_at(kMetadata + "packages/torch", 2),
            at + "packages.torch: expected a string, got the number 2");
  EXPECT_EQ(refusal_at(kMetadata + "export_dtype", "flaot32"),
            at + "export_dtype: expected the name of a dtype, such as "
                 "'float32', got the string 'flaot32'");
  EXPECT_EQ(refusal_at(kMetadata + "kwargs/ids/shape", "2x8"),
            at + "kwargs.ids.shape: expected an array, got the string '2x8'");
  EXPECT_EQ(refusal_at(kMetadata + "kwargs/ids/shape", {2, -8}),
            at + "kwargs.ids.shape: expected sizes of 0 or more, got the "
                 "number -8");
  EXPECT_EQ(refusal_at(kMetadata + "kwargs/ids/shape", {2, 1e30}),
            at + "kwargs.ids.shape: expected a 64-bit integer, got the number "
                 "1e+30");
  EXPECT_EQ(refusal_at(kMetadata + "kwargs/ids/rank", 3),
            at + "kwargs.ids.rank: expected 2, as shape has it, got the "
                 "number 3");
  EXPECT_EQ(refusal_at(kMetadata + "kwargs/ids/shape", nullptr),
            at + "kwargs.ids.shape: is missing");
  EXPECT_TRUE(contains(
      refusal_at(kMetadata + "kwargs/ids/shape", std::vector<int>(1000, 1)),
      at + "kwargs.ids.shape: expected at most 64 axes"));
  EXPECT_EQ(refusal_at(kMetadata + "in_constants/mode", json::array()),
            at + "in_constants.mode: expected null, a bool, a number or a "
                 "string, got an array of 0");
  EXPECT_EQ(refusal_at(kMetadata + "out_constants", {{1, 2, 3}}),
            at + "out_constants[0]: expected a pair of a leaf index and a "
                 "value, got an array of 3");
  EXPECT_EQ(refusal_at(kMetadata + "out_constants",
                       json::array({json::array({-1, 2})})),
            at + "out_constants[0][0]: expected an index of 0 or more, got "
                 "the number -1");
  EXPECT_EQ(refusal_at(kMetadata + "out_constants",
                       json::array({json::array({5, 2})})),
            at + "out_spec: has 1 leaves, but out_constants gives a value for "
                 "leaf 5");
  EXPECT_TRUE(contains(refusal_at(kMetadata + "in_spec", "[1"),
                       at + "in_spec: is not JSON"));
}

TEST(Manifest, ComponentNamesAreSane) {
  const std::vector<std::string> names = {
      "", ".", "..", "a/b", "a\\b", std::string("a\0b", 3), "a\nb"};
  for (const std::string& name : names) {
    json manifest = whole();
    manifest["components"] = {{name, {{"file", "model.onnx"}}}};
    EXPECT_TRUE(contains(refusal(manifest),
                         "export.json: components: expected a component's "
                         "name of 1 to 255 characters"))
        << name;
  }
}

TEST(Manifest, MappingsAndContainersAreKwargs) {
  json manifest = whole();
  manifest[json::json_pointer(kMetadata + "kwargs")] = {
      {"encoder_outputs",
       {{"leaves",
         {{"last_hidden_state",
           {{"rank", 3}, {"shape", {2, 8, 4}}, {"dtype", "float16"}}},
          {"attentions", {{"container", "tuple"}}},
          {"inner",
           {{"leaves", {{"x", {{"rank", 0}, {"shape", json::array()}}}}}}}}}}},
      {"past_key_values", {{"container", "DynamicCache"}}}};
  const Metadata metadata = parse(manifest).components[0].metadata;
  ASSERT_EQ(metadata.kwargs.size(), 2U);
  const KwargSpec& mapping = metadata.kwargs[0];
  EXPECT_FALSE(mapping.tensor);
  ASSERT_EQ(mapping.leaves.size(), 2U);
  EXPECT_EQ(mapping.leaves[0].first, "inner.x");
  EXPECT_EQ(mapping.leaves[1].first, "last_hidden_state");
  EXPECT_EQ(mapping.leaves[1].second.dtype, DType::float16);
  EXPECT_EQ(metadata.kwargs[1].container, "DynamicCache");
}

TEST(Manifest, DtypesToComeAreUnknownNotWrong) {
  json manifest = whole();
  manifest[json::json_pointer(kMetadata + "export_dtype")] = "float8_e4m3fn";
  EXPECT_FALSE(parse(manifest).components[0].metadata.export_dtype);
}

TEST(Manifest, FormatsToComeAreRead) {
  json manifest = whole();
  manifest["export_format"] = "coreml";
  EXPECT_EQ(parse(manifest).export_format, "coreml");
}

TEST(Manifest, UnknownFieldsAreIgnored) {
  json manifest = whole();
  manifest["extra"] = {1, 2};
  manifest["components"]["model"]["extra"] = "x";
  manifest[json::json_pointer(kMetadata + "extra")] = json::object();
  EXPECT_EQ(parse(manifest).components.size(), 1U);
}

TEST(Manifest, NewerSchemaWarns) {
  std::string warned;
  set_log_callback([&](LogLevel level, std::string_view line) {
    if (level == LogLevel::warning) warned += line;
  });
  static_cast<void>(parse(whole()));
  EXPECT_EQ(warned, "");
  json manifest = whole();
  manifest["schema_version"] = 2;
  EXPECT_EQ(parse(manifest).schema_version, 2);
  set_log_callback({});
  EXPECT_EQ(warned,
            "export.json: schema_version 2 is newer than the 1 that this "
            "modelrun reads: fields may be ignored or misread; update "
            "modelrun");
}

TEST(Manifest, EveryPrefixIsRefused) {
  const std::string text = whole().dump();
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_TRUE(contains(error_of<InvalidArgument>([&] {
                           return parse_manifest(text.substr(0, length),
                                                 "export.json");
                         }),
                         "export.json: is not JSON"))
        << length;
  }
}

TEST(Manifest, OtherBytesAreRefused) {
  std::string text = whole().dump();
  text.insert(text.find("BertModel"), "\xff");
  EXPECT_TRUE(contains(error_of<InvalidArgument>(
                           [&] { return parse_manifest(text, "export.json"); }),
                       "export.json: is not UTF-8, at byte "));
}

}  // namespace
}  // namespace modelrun
