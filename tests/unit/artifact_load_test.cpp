// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/onnx_program.h"
#include "modelrun/error.h"
#include "support/artifact/error_of.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::error_of;
using testing::FakeFolder;

fs::path fixture(const std::string& name) {
  return fs::path(MODELRUN_TEST_MODELS) / name / "onnx";
}

const std::string kManifest =
    R"({"export_format":"onnx","components":{"model":{"file":"model.onnx"}}})";

std::string manifest_with_file(const std::string& file) {
  return R"({"export_format":"onnx","components":{"model":{"file":")" + file +
         "\"}}}";
}

std::string without_prefix(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::vector<std::string> leaf_paths(const Structure& tree) {
  std::vector<std::string> paths;
  tree.for_each_leaf("", [&](const std::string& path, const Structure&) {
    paths.push_back(path);
  });
  return paths;
}

// Every input of the program is a leaf of in_spec; its outputs are the leaves
// of out_spec, in order.
void expect_names_agree(const Component& component) {
  SCOPED_TRACE(component.file.string());
  ASSERT_TRUE(component.metadata);
  const Metadata& metadata = *component.metadata;
  ASSERT_NE(metadata.in_spec, nullptr);
  ASSERT_NE(metadata.out_spec, nullptr);
  const OnnxProgram program = load_onnx_program(component.file);
  for (const OnnxValue& input : program.inputs) {
    const Structure* leaf =
        metadata.in_spec->find_path(without_prefix(input.name, "input."));
    EXPECT_TRUE(leaf != nullptr && leaf->is_leaf()) << input.name;
  }
  std::vector<std::string> outputs;
  for (const OnnxValue& output : program.outputs) {
    outputs.push_back(without_prefix(output.name, "output."));
  }
  EXPECT_EQ(outputs, leaf_paths(*metadata.out_spec));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Structure* leaf = metadata.out_spec->find_path(outputs[i]);
    ASSERT_NE(leaf, nullptr) << outputs[i];
    EXPECT_EQ(leaf->leaf_index(), i) << outputs[i];
  }
  EXPECT_NO_THROW(static_cast<void>(external_data_files(program)));
}

TEST(LoadArtifact, EveryFixturesSpecsNameItsProgramsPorts) {
  int loaded = 0;
  for (const auto& entry : fs::directory_iterator(MODELRUN_TEST_MODELS)) {
    if (!fs::exists(entry.path() / "onnx" / "export.json")) continue;
    const Artifact artifact = load_artifact(entry.path() / "onnx");
    for (const Component& component : artifact.components) {
      expect_names_agree(component);
      ++loaded;
    }
  }
  EXPECT_GT(loaded, 0);
}

TEST(LoadArtifact, ManifestGivesComponentsAndConfig) {
  const Artifact artifact = load_artifact(fixture("bert"));
  EXPECT_EQ(artifact.layout, "export.json");
  EXPECT_EQ(artifact.directory, fixture("bert"));
  ASSERT_EQ(artifact.components.size(), 1U);
  const Component& model = artifact.components[0];
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(model.format, "onnx");
  EXPECT_EQ(model.file, fixture("bert") / "model.onnx");
  EXPECT_EQ(model.metadata->architecture, "BertModel");
  EXPECT_EQ(model.metadata->out_spec->class_name(),
            "transformers.modeling_outputs."
            "BaseModelOutputWithPoolingAndCrossAttentions");
  EXPECT_TRUE(contains(artifact.config, "\"model_type\": \"bert\""));
}

TEST(LoadArtifact, CachesAreRebuiltByTheirStructure) {
  const Artifact artifact = load_artifact(fixture("t5-generation"));
  const auto decode = std::find_if(
      artifact.components.begin(), artifact.components.end(),
      [](const Component& component) { return component.name == "decode"; });
  ASSERT_NE(decode, artifact.components.end());
  const Structure& out = *decode->metadata->out_spec;
  const Structure* cache = out.find("past_key_values");
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->class_name(),
            "transformers.cache_utils.EncoderDecoderCache");
  EXPECT_EQ(cache->find_path("self_attention_cache.layers.0")->class_name(),
            "transformers.cache_utils.DynamicLayer");
  EXPECT_EQ(cache->find("is_updated")->key(0), Structure::Key(std::int64_t{0}));
  EXPECT_EQ(cache->find_path("is_updated.1")->value(), Scalar(true));
}

TEST(LoadArtifact, OutputsThatAreNoTensorsAreInTheirPlaces) {
  const Artifact artifact = load_artifact(fixture("oddities"));
  const Structure& out = *artifact.components[0].metadata->out_spec;
  EXPECT_EQ(out.find("number")->value(), Scalar(std::int64_t{7}));
  EXPECT_EQ(out.find("ratio")->value(), Scalar(2.5));
  EXPECT_EQ(out.find("flag")->value(), Scalar(true));
  EXPECT_EQ(out.find("label")->value(), Scalar(std::string("odd")));
  EXPECT_EQ(out.find_path("states.1")->value(), Scalar());
  EXPECT_EQ(out.find_path("states.2.1")->value(), Scalar(false));
}

TEST(LoadArtifact, ScalarKwargsAreRecorded) {
  const Artifact artifact = load_artifact(fixture("constants"));
  const Metadata& metadata = *artifact.components[0].metadata;
  std::set<std::string> names;
  for (const auto& [name, value] : metadata.in_constants) names.insert(name);
  const std::set<std::string> expected = {"double", "times", "mode", "bias",
                                          "scale"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(metadata.in_spec->size(), 8U);
}

TEST(LoadArtifact, OtherFilesBesideAManifestChangeNothing) {
  const FakeFolder folder;
  folder.write("export.json", kManifest);
  folder.write("model.onnx");
  folder.write("model_quantized.onnx");
  folder.write("model.safetensors");
  const Artifact artifact = load_artifact(folder.path());
  ASSERT_EQ(artifact.components.size(), 1U);
  EXPECT_EQ(artifact.components[0].file, folder.path() / "model.onnx");
  EXPECT_TRUE(artifact.components[0].metadata);
}

TEST(LoadArtifact, FileThatTheManifestNamesMustBeThere) {
  const FakeFolder folder;
  const fs::path manifest = folder.write("export.json", kManifest);
  EXPECT_EQ(error_of<NotFound>([&] { return load_artifact(folder.path()); }),
            manifest.string() + ": components.model.file: there is no file " +
                (folder.path() / "model.onnx").string() +
                ": the export is incomplete, copy or download it again");
}

TEST(LoadArtifact, FilesThatLeaveTheDirectoryAreRefused) {
  const FakeFolder folder;
  folder.write("secret.onnx", "x");
  for (const std::string file :
       {"../secret.onnx", "/etc/passwd", "C:\\\\x", "\\\\\\\\host\\\\x",
        "a/../../secret.onnx", "a\\u0000b"}) {
    folder.write("export/export.json", manifest_with_file(file));
    EXPECT_TRUE(contains(error_of<InvalidArgument>([&] {
                           return load_artifact(folder.path() / "export");
                         }),
                         "export.json: components.model.file: expected a "
                         "relative path within the directory"))
        << file;
  }
}

TEST(LoadArtifact, LinksThatLeaveTheDirectoryAreRefused) {
  const FakeFolder folder;
  folder.write("secret", "{}");
  folder.write("export/export.json", kManifest);
  folder.write("export/real.onnx", "x");
  const fs::path directory = folder.path() / "export";
  fs::create_symlink("../secret", directory / "model.onnx");
  EXPECT_TRUE(contains(
      error_of<InvalidArgument>([&] { return load_artifact(directory); }),
      "components.model.file: " + (directory / "model.onnx").string() +
          " leads to "));
  fs::remove(directory / "model.onnx");
  fs::create_symlink("real.onnx", directory / "model.onnx");
  EXPECT_EQ(load_artifact(directory).components.size(), 1U);
  fs::create_symlink("../secret", directory / "config.json");
  EXPECT_TRUE(contains(
      error_of<InvalidArgument>([&] { return load_artifact(directory); }),
      "config.json leads to "));
}

// A Hub cache's snapshot of a fixture: every file is a link into blobs.
fs::path make_snapshot(const FakeFolder& folder, const std::string& name) {
  const fs::path repo = folder.path() / "hub" / ("models--org--" + name);
  const fs::path snapshot = repo / "snapshots" / "0123abcd";
  fs::create_directories(repo / "blobs");
  fs::create_directories(snapshot);
  int number = 0;
  for (const auto& entry : fs::directory_iterator(fixture(name))) {
    const std::string blob = "blob" + std::to_string(number++);
    fs::copy_file(entry.path(), repo / "blobs" / blob);
    fs::create_symlink(fs::path("../../blobs") / blob,
                       snapshot / entry.path().filename());
  }
  return snapshot;
}

TEST(LoadArtifact, HubCacheSnapshotLoadsWithItsData) {
  const FakeFolder folder;
  const fs::path snapshot = make_snapshot(folder, "bert");
  const Artifact artifact = load_artifact(snapshot);
  ASSERT_EQ(artifact.components.size(), 1U);
  // The path of the link, not of the blob: the data lies beside it.
  EXPECT_EQ(artifact.components[0].file, snapshot / "model.onnx");
  EXPECT_EQ(external_data_files(load_onnx_program(artifact.components[0].file)),
            std::vector<fs::path>{snapshot / "model.onnx.data"});
  fs::create_directory_symlink(folder.path() / "hub", folder.path() / "cache");
  const Artifact linked = load_artifact(
      folder.path() / "cache/models--org--bert/snapshots/0123abcd");
  EXPECT_EQ(
      external_data_files(load_onnx_program(linked.components[0].file)).size(),
      1U);
}

TEST(LoadArtifact, SnapshotWhoseBlobIsMissingSaysSo) {
  const FakeFolder folder;
  const fs::path snapshot = make_snapshot(folder, "bert");
  fs::remove(fs::canonical(snapshot / "model.onnx"));
  EXPECT_TRUE(
      contains(error_of<NotFound>([&] { return load_artifact(snapshot); }),
               "which does not exist: download the files again"));
}

TEST(LoadArtifact, FileNameKeepsOneComponentOfAManifest) {
  ArtifactOptions options;
  options.file_name = "decode.onnx";
  const Artifact artifact = load_artifact(fixture("t5-generation"), options);
  ASSERT_EQ(artifact.components.size(), 1U);
  EXPECT_EQ(artifact.components[0].name, "decode");
  options.file_name = "other.onnx";
  EXPECT_TRUE(contains(error_of<NotFound>([&] {
                         return load_artifact(fixture("t5-generation"),
                                              options);
                       }),
                       "names no file 'other.onnx', which the option "
                       "file_name asks for; it names 'prefill.onnx', "
                       "'decode.onnx'"));
}

TEST(LoadArtifact, OptimumLayoutHasNoMetadata) {
  const FakeFolder folder;
  folder.write("config.json", "{\"model_type\": \"bert\"}");
  folder.write("generation_config.json", "{}");
  folder.write("onnx/model_quantized.onnx", "x");
  const Artifact artifact = load_artifact(folder.path());
  EXPECT_EQ(artifact.layout, "optimum");
  EXPECT_EQ(artifact.components[0].name, "model");
  EXPECT_FALSE(artifact.components[0].metadata);
  EXPECT_EQ(artifact.config, "{\"model_type\": \"bert\"}");
  EXPECT_EQ(artifact.generation_config, "{}");
}

TEST(LoadArtifact, OptimumExportsAreTheirParts) {
  const fs::path layouts = fs::path(MODELRUN_TEST_MODELS) / "optimum_layouts";
  const Artifact parts = load_artifact(layouts / "decoder");
  std::vector<std::string> names;
  for (const Component& part : parts.components) names.push_back(part.name);
  const std::vector<std::string> expected = {
      "decoder_model", "decoder_with_past_model", "encoder_model"};
  EXPECT_EQ(names, expected);
  EXPECT_TRUE(contains(error_of<InvalidArgument>(
                           [&] { return load_artifact(layouts / "folder"); }),
                       "holds several variants of 'model': onnx/model.onnx, "
                       "onnx/model_quantized.onnx; pick one"));
  ArtifactOptions options;
  options.file_name = "model_quantized.onnx";
  const Artifact quantized = load_artifact(layouts / "folder", options);
  ASSERT_EQ(quantized.components.size(), 1U);
  EXPECT_EQ(quantized.components[0].file,
            layouts / "folder/onnx/model_quantized.onnx");
}

TEST(LoadArtifact, SubfolderHoldsTheExport) {
  const FakeFolder folder;
  folder.write("deep/onnx-export/export.json", kManifest);
  folder.write("deep/onnx-export/model.onnx", "x");
  ArtifactOptions options;
  options.subfolder = "deep/onnx-export";
  EXPECT_EQ(load_artifact(folder.path(), options).directory,
            folder.path() / "deep/onnx-export");
  options.subfolder = "..";
  EXPECT_TRUE(contains(error_of<InvalidArgument>([&] {
                         return load_artifact(folder.path(), options);
                       }),
                       "the option subfolder: expected a relative path"));
  options.subfolder = "nowhere";
  EXPECT_EQ(
      error_of<NotFound>([&] { return load_artifact(folder.path(), options); }),
      folder.path().string() +
          ": has no folder 'nowhere', which the option subfolder asks "
          "for");
}

TEST(LoadArtifact, BareProgramIsTheModel) {
  const FakeFolder folder;
  const fs::path file = folder.write("silero vad.onnx", "x");
  const Artifact artifact = load_artifact(file);
  EXPECT_EQ(artifact.layout, "file");
  EXPECT_EQ(artifact.directory, folder.path());
  ASSERT_EQ(artifact.components.size(), 1U);
  EXPECT_EQ(artifact.components[0].name, "model");
  EXPECT_EQ(artifact.components[0].file, file);
  EXPECT_EQ(artifact.components[0].format, "onnx");
}

TEST(LoadArtifact, ManifestItselfStandsForItsDirectory) {
  const Artifact artifact = load_artifact(fixture("bert") / "export.json");
  EXPECT_EQ(artifact.layout, "export.json");
}

TEST(LoadArtifact, WhatIsNoExportIsRefused) {
  const FakeFolder folder;
  EXPECT_EQ(error_of<NotFound>([] { return load_artifact("/no/such/place"); }),
            "/no/such/place: no such file or directory: expected an export's "
            "directory or a program file");
  EXPECT_TRUE(contains(error_of<NotFound>([] { return load_artifact(""); }),
                       "no such file or directory"));
  const fs::path text = folder.write("notes.txt", "x");
  EXPECT_EQ(error_of<Unsupported>([&] { return load_artifact(text); }),
            text.string() +
                ": is no program that modelrun knows: expected a directory, "
                "or a .onnx, .xml, .pt2 or .pte file");
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(
      contains(error_of<Unsupported>([&] { return load_artifact(pipe); }),
               "is neither a directory nor a file"));
  ArtifactOptions options;
  options.file_name = "model.onnx";
  const fs::path program = folder.write("model.onnx", "x");
  EXPECT_TRUE(contains(error_of<InvalidArgument>(
                           [&] { return load_artifact(program, options); }),
                       "the options file_name and subfolder go with a "
                       "directory"));
}

TEST(LoadArtifact, BrokenConfigIsNamed) {
  const FakeFolder folder;
  folder.write("model.onnx", "x");
  const fs::path config = folder.write("config.json", "[1]");
  EXPECT_EQ(
      error_of<InvalidArgument>([&] { return load_artifact(folder.path()); }),
      config.string() + ": expected an object, got an array of 1");
}

TEST(LoadArtifact, ManifestThatIsNoFileOrTooLargeIsRefused) {
  const FakeFolder folder;
  fs::create_directories(folder.path() / "a/export.json");
  EXPECT_TRUE(contains(
      error_of<NotFound>([&] { return load_artifact(folder.path() / "a"); }),
      "export.json: is not a file that can be read"));
  folder.write("b/export.json", std::string((16 << 20) + 1, ' '));
  EXPECT_TRUE(contains(error_of<InvalidArgument>(
                           [&] { return load_artifact(folder.path() / "b"); }),
                       "export.json: is larger than the 16 MiB"));
}

TEST(LoadArtifact, PathsMayHoldAnyLetters) {
  const FakeFolder folder;
  folder.write("модель 模型 é/export.json", manifest_with_file("ядро é.onnx"));
  folder.write("модель 模型 é/ядро é.onnx", "x");
  const Artifact artifact = load_artifact(folder.path() / "модель 模型 é");
  EXPECT_TRUE(fs::exists(artifact.components[0].file));
}

}  // namespace
}  // namespace modelrun
