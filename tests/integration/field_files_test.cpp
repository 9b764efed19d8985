// SPDX-License-Identifier: Apache-2.0
// Exports as they lie on disks: linked, cut, half copied, too new, in folders
// of any name.
#include <gtest/gtest.h>

#include <clocale>
#include <fstream>

#include "integration/onnxruntime_graph.h"
#include "support/exports.h"
#include "support/fake_folder.h"

namespace modelrun::testing {
namespace {

namespace fs = std::filesystem;
namespace ort = onnxruntime_test;

// A copy of the fixture `bert`, whose weights are in `model.onnx.data`.
void copy_bert(const fs::path& folder) {
  fs::create_directories(folder);
  for (const auto& entry : fs::directory_iterator(fixture("bert").path)) {
    fs::copy(entry.path(), folder);
  }
}

// Whether it gives what the fixture itself gives.
void expect_bert(const fs::path& path) {
  const NamedValues kwargs = kwargs_of("bert", "padded");
  const auto model = ExportedModel::from_pretrained(path);
  EXPECT_TRUE(
      equal(call(model, kwargs)["last_hidden_state"].tensor(),
            call(open_export("bert"), kwargs)["last_hidden_state"].tensor()));
}

// A Hub cache of `bert`: blobs, and a snapshot to be filled with links.
class HubCache {
 public:
  explicit HubCache(const fs::path& folder)
      : repo_(folder / "models--org--bert"),
        snapshot_(repo_ / "snapshots" / "0123abcd") {
    copy_bert(repo_ / "blobs");
    fs::create_directories(snapshot_);
    for (const char* name : {"export.json", "config.json"}) link(name);
  }

  void link(const fs::path& name) const {
    fs::create_symlink("../../blobs" / name, snapshot_ / name);
  }
  // Through another link beside the blob.
  void link_twice(const fs::path& name) const {
    fs::path between = name;
    between += ".link";
    fs::create_symlink(name, repo_ / "blobs" / between);
    fs::create_symlink("../../blobs" / between, snapshot_ / name);
  }
  void copy(const fs::path& name) const {
    fs::copy(repo_ / "blobs" / name, snapshot_ / name);
  }
  [[nodiscard]] const fs::path& snapshot() const noexcept { return snapshot_; }

 private:
  fs::path repo_;
  fs::path snapshot_;
};

constexpr const char* kProgram = "model.onnx";
constexpr const char* kData = "model.onnx.data";

TEST(FieldFiles, HubCacheWithLinkedProgramAndDataLoads) {
  const FakeFolder folder;
  const HubCache cache(folder.path());
  cache.link(kProgram);
  cache.link(kData);
  expect_bert(cache.snapshot());
  expect_bert(cache.snapshot() / kProgram);
}

TEST(FieldFiles, HubCacheWithLinkedProgramOnlyLoads) {
  const FakeFolder folder;
  const HubCache cache(folder.path());
  cache.link(kProgram);
  cache.copy(kData);
  expect_bert(cache.snapshot());
}

TEST(FieldFiles, HubCacheWithLinkedDataOnlyLoads) {
  const FakeFolder folder;
  const HubCache cache(folder.path());
  cache.copy(kProgram);
  cache.link(kData);
  expect_bert(cache.snapshot());
}

TEST(FieldFiles, HubCacheWithChainsOfLinksLoads) {
  const FakeFolder folder;
  const HubCache cache(folder.path());
  cache.link_twice(kProgram);
  cache.link_twice(kData);
  expect_bert(cache.snapshot());
}

TEST(FieldFiles, HubCacheBehindALinkLoads) {
  const FakeFolder folder;
  const HubCache cache(folder.path() / "disk");
  cache.copy(kProgram);
  cache.link(kData);
  fs::create_directory_symlink("disk", folder.path() / "cache");
  expect_bert(folder.path() / "cache/models--org--bert/snapshots/0123abcd");
}

TEST(FieldFiles, DataLinkThatLeavesTheRepoIsRefused) {
  const FakeFolder folder;
  const HubCache cache(folder.path());
  cache.link(kProgram);
  fs::create_symlink(fixture("bert").path / kData, cache.snapshot() / kData);
  const fs::path data = cache.snapshot() / kData;
  EXPECT_EQ(load_refusal(cache.snapshot()),
            (cache.snapshot() / kProgram).string() +
                ": initializer 'embeddings.word_embeddings.weight' (external "
                "data): " +
                data.string() + " leads to " +
                (fixture("bert").path / kData).string() +
                ", which is outside of " + cache.snapshot().string() +
                ": copy the file there");
}

TEST(FieldFiles, DataIsFoundByTheNameInTheGraphWhateverItsSuffix) {
  const Tensor x = Tensor::zeros(DType::float32, {64});
  const Tensor expected =
      open_graph("external_no_suffix.onnx")({{"x", x}})[0].tensor();
  for (const char* name : {"external_spaces.onnx", "external_unicode.onnx",
                           "external_folder.onnx"}) {
    EXPECT_TRUE(equal(open_graph(name)({{"x", x}})[0].tensor(), expected))
        << name;
  }
}

// Another current folder, until the end of the block.
class CurrentFolder {
 public:
  explicit CurrentFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  ~CurrentFolder() { fs::current_path(before_); }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;

 private:
  fs::path before_;
};

TEST(FieldFiles, RelativePathsLoad) {
  const CurrentFolder here(fixture("bert").path.parent_path());
  expect_bert("onnx");
  expect_bert("onnx/model.onnx");
  const CurrentFolder inside(fixture("bert").path);
  expect_bert(".");
  expect_bert("model.onnx");
}

TEST(FieldFiles, DataThatWasNotCopiedIsNamed) {
  const FakeFolder folder;
  copy_bert(folder.path());
  fs::remove(folder.path() / kData);
  // What the current folder holds does not stand in.
  const CurrentFolder with_data(fixture("bert").path);
  EXPECT_EQ(load_refusal<NotFound>(folder.path()),
            (folder.path() / kProgram).string() +
                ": initializer 'embeddings.word_embeddings.weight' (external "
                "data): there is no file " +
                (folder.path() / kData).string() +
                ": it goes with the program, copy or download it, too");
}

TEST(FieldFiles, ConstantThatPointsAtAMissingFileNamesItsNode) {
  const fs::path file = graph_file("external_constant_missing.onnx");
  const std::string message = load_refusal<NotFound>(file);
  EXPECT_TRUE(
      message.starts_with(file.string() + ": attribute 'value' of node '"))
      << message;
  EXPECT_TRUE(
      message.ends_with(": it goes with the program, copy or download it, too"))
      << message;
}

TEST(FieldFiles, CutDataIsRefusedWithBothSizes) {
  const FakeFolder folder;
  copy_bert(folder.path());
  const fs::path data = folder.path() / kData;
  const auto size = fs::file_size(data);
  for (const auto left : {size - 1, size / 2, std::uintmax_t{0}}) {
    SCOPED_TRACE(left);
    fs::resize_file(data, left);
    const std::string message = load_refusal(folder.path());
    EXPECT_TRUE(message.starts_with((folder.path() / kProgram).string() +
                                    ": initializer '"))
        << message;
    EXPECT_NE(message.find(": " + data.string() + " has " +
                           std::to_string(left) + " bytes, but "),
              std::string::npos)
        << message;
    EXPECT_TRUE(message.ends_with(
        " on: it is cut off or of another export, download it again"))
        << message;
  }
}

TEST(FieldFiles, CutProgramsAreRefused) {
  const FakeFolder folder;
  copy_bert(folder.path());
  const fs::path program = folder.path() / kProgram;
  const auto size = fs::file_size(program);
  for (const auto left : {size - 1, size / 2, size / 3, std::uintmax_t{20}}) {
    fs::resize_file(program, left);
    const std::string message = load_refusal(folder.path());
    EXPECT_TRUE(message.starts_with(program.string() +
                                    ": is no valid ONNX program, at byte "))
        << message;
  }
  fs::resize_file(program, 0);
  EXPECT_EQ(load_refusal(folder.path()),
            program.string() + ": is empty: download or export it again");
}

TEST(FieldFiles, DataLocationsThatLeaveAreRefused) {
  for (const char* name :
       {"external_escaping.onnx", "external_absolute.onnx"}) {
    const std::string message = load_refusal(graph_file(name));
    EXPECT_NE(message.find(" (external data): expected a relative path within "
                           "the directory, got "),
              std::string::npos)
        << message;
  }
}

TEST(FieldFiles, ManifestThatNamesAFileElsewhereIsRefused) {
  const FakeFolder folder;
  copy_bert(folder.path() / "export");
  fs::copy(folder.path() / "export" / kProgram, folder.path());
  for (const std::string name :
       {"../model.onnx", "a/../../model.onnx", "C:\\model.onnx",
        "\\\\host\\model.onnx", "/etc/passwd"}) {
    nlohmann::json manifest{{"schema_version", 1}, {"export_format", "onnx"}};
    manifest["components"]["model"]["file"] = name;
    const auto file = folder.write("export/export.json", manifest.dump());
    EXPECT_EQ(load_refusal(file.parent_path()),
              file.string() +
                  ": components.model.file: expected a relative path within "
                  "the directory, got '" +
                  name + "'");
  }
}

TEST(FieldFiles, FolderMayHaveAnyLettersInAPlainLocale) {
  ASSERT_STREQ(std::setlocale(LC_ALL, nullptr), "C");
  const FakeFolder folder;
  const fs::path odd = folder.path() / "модель 模型 é" / "a b'c";
  copy_bert(odd);
  expect_bert(odd);
  expect_bert(odd / kProgram);
  // Names are shown as they are.
  fs::remove(odd / kData);
  EXPECT_NE(load_refusal<NotFound>(odd).find("модель 模型 é"),
            std::string::npos);
}

TEST(FieldFiles, OneOfSeveralVariantsIsTakenOnlyWhenItIsNamed) {
  const fs::path folder =
      fs::path(MODELRUN_TEST_MODELS) / "optimum_layouts/folder";
  EXPECT_EQ(load_refusal(folder),
            folder.string() +
                ": holds several variants of 'model': onnx/model.onnx, "
                "onnx/model_quantized.onnx; pick one with the option "
                "file_name, such as file_name='onnx/model.onnx'");
  const auto hidden = [&](const std::string& name) {
    const auto model =
        ExportedModel::from_pretrained(folder, {.file_name = name});
    return model({{"input_ids", int64s({1, 4}, 7)},
                  {"attention_mask", int64s({1, 4}, 1)}})[0]
        .tensor();
  };
  EXPECT_FALSE(equal(hidden("model.onnx"), hidden("model_quantized.onnx")));
  EXPECT_TRUE(equal(hidden("model.onnx"), hidden("onnx/model.onnx")));
  EXPECT_EQ(load_refusal<NotFound>(folder, {.file_name = "model_fp16.onnx"}),
            folder.string() +
                ": has no 'model_fp16.onnx', which the option file_name asks "
                "for; its programs are onnx/model.onnx, "
                "onnx/model_quantized.onnx");
}

TEST(FieldFiles, LaterVersionsAreRefusedWithWhatIsSupported) {
  const std::string ir = load_refusal<Error>(graph_file("ir_version_99.onnx"));
  EXPECT_TRUE(ir.starts_with("ONNX Runtime ")) << ir;
  EXPECT_NE(ir.find("Unsupported model IR version: 99, max supported IR "
                    "version: "),
            std::string::npos)
      << ir;
  const std::string opset = load_refusal<Error>(graph_file("opset_99.onnx"));
  EXPECT_NE(opset.find("Opset 99"), std::string::npos) << opset;
  EXPECT_NE(opset.find("ai.onnx is till opset "), std::string::npos) << opset;
  for (const std::string& message : {ir, opset}) {
    EXPECT_TRUE(message.ends_with(
        "; install a later ONNX Runtime, or export the model for an earlier "
        "version"))
        << message;
  }
}

TEST(FieldFiles, OperatorsThatNoStandardDefinesAreListedTogether) {
  const FakeFolder folder;
  const auto floats = ort::tensor_type(ort::kFloat, {std::string("n")});
  const auto file = folder.write(
      "model.onnx",
      ort::Graph{.inputs = {{"x", floats}},
                 .outputs = {{"y", floats}},
                 .nodes = {{"Twist", {"x"}, {"a"}, {}, "my_ops"},
                           {"Abs", {"a"}, {"b"}},
                           {"Frobnicate", {"b"}, {"c"}, {}, "my_ops"},
                           {"Twist", {"c"}, {"y"}, {}, "my_ops"}}}
          .text());
  const std::string message = load_refusal<Unsupported>(file);
  EXPECT_TRUE(message.starts_with("ONNX Runtime ")) << message;
  EXPECT_NE(message.find(", loading '" + file.string() +
                         "': it does not have the operators my_ops:Frobnicate, "
                         "my_ops:Twist, which no standard defines: name the "
                         "library that has them by the option "
                         "custom_op_library, or export the model without them "
                         "(it says: "),
            std::string::npos)
      << message;
}

// A program of one operator that no standard defines.
fs::path write_twist(const FakeFolder& folder) {
  const auto floats = ort::tensor_type(ort::kFloat, {std::string("n")});
  return folder.write(
      "model.onnx", ort::Graph{.inputs = {{"x", floats}},
                               .outputs = {{"y", floats}},
                               .nodes = {{"Twist", {"x"}, {"y"}, {}, "my_ops"}}}
                        .text());
}

TEST(FieldFiles, OperatorsComeOutOfALibraryThatTheCallerNames) {
  const FakeFolder folder;
  const auto file = write_twist(folder);
  const auto model = ExportedModel::from_pretrained(
      file, {.options = {{"custom_op_library",
                          std::string(MODELRUN_TEST_CUSTOM_OPERATORS)}}});
  EXPECT_TRUE(
      equal(model({{"x", Tensor::from<float>({1, 2, 3}, {3})}})["y"].tensor(),
            Tensor::from<float>({3, 2, 1}, {3})));
}

TEST(FieldFiles, LibraryBesideTheModelIsNeverLoadedByItself) {
  const FakeFolder folder;
  const auto file = write_twist(folder);
  for (const char* name : {"custom_op_library.so", "model.so", "my_ops.so"}) {
    fs::copy(MODELRUN_TEST_CUSTOM_OPERATORS, folder.path() / name);
  }
  EXPECT_NE(load_refusal<Unsupported>(file).find(
                "it does not have the operators my_ops:Twist, "),
            std::string::npos);
}

TEST(FieldFiles, WrongOperatorLibraryIsNamed) {
  const FakeFolder folder;
  const auto file = write_twist(folder);
  const auto text = folder.write("text.so", "no library");
  const std::string fake = MODELRUN_PLUGIN_DIR "/modelrun_onnxruntime.so";
  for (const std::string& library :
       {(folder.path() / "none.so").string(), text.string(), fake}) {
    const std::string message = load_refusal<Error>(
        file, {.options = {{"custom_op_library", library}}});
    EXPECT_NE(
        message.find(", taking the custom operators of '" + library + "': "),
        std::string::npos)
        << message;
  }
}

TEST(FieldFiles, MergedDecoderIsRefusedAtLoad) {
  const FakeFolder folder;
  const auto ids = ort::tensor_type(ort::kInt64, {std::string("n")});
  const auto flag = ort::tensor_type(ort::kBool, {1});
  const auto branch = [&](const std::string& op) {
    return ort::Graph{.inputs = {},
                      .outputs = {{op, ids}},
                      .nodes = {{op, {"input_ids"}, {op}}}}
        .graph_message();
  };
  const auto file = folder.write(
      "decoder_model_merged.onnx",
      ort::Graph{
          .inputs = {{"input_ids", ids}, {"use_cache_branch", flag}},
          .outputs = {{"logits", ids}},
          .nodes = {{"If",
                     {"use_cache_branch"},
                     {"logits"},
                     {ort::graph_attribute("then_branch", branch("Abs")),
                      ort::graph_attribute("else_branch", branch("Neg"))}}}}
          .text());
  const std::string expected =
      file.string() +
      ": is a merged decoder of optimum: its input 'use_cache_branch' chooses "
      "between a graph with a cache and one without, and modelrun runs "
      "programs "
      "that are one or the other; load the two it was made of with the option "
      "file_name (decoder_model.onnx and decoder_with_past_model.onnx; "
      "optimum-cli export onnx --no-post-process keeps them), or export the "
      "model with transformers.exporters";
  EXPECT_EQ(load_refusal<Unsupported>(folder.path()), expected);
  EXPECT_EQ(load_refusal<Unsupported>(file), expected);
}

TEST(FieldFiles, RefusedLoadLeavesTheProcessUsable) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(load_refusal<Error>(graph_file("unknown_operator.onnx")),
              "no error");
    expect_bert(fixture("bert").path);
  }
}

}  // namespace
}  // namespace modelrun::testing
