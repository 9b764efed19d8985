// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "artifact/layout.h"
#include "modelrun/error.h"
#include "support/artifact/error_of.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

using testing::contains;
using testing::error_of;
using testing::FakeFolder;

// {component: file below the folder} of a folder with these files.
std::map<std::string, std::string> programs(
    const std::vector<std::string>& files, const std::string& file_name = "") {
  const FakeFolder folder;
  for (const std::string& file : files) folder.write(file, "x");
  std::map<std::string, std::string> found;
  for (const Component& component : find_programs(folder.path(), file_name)) {
    found[component.name] =
        component.file.lexically_relative(folder.path()).string();
    EXPECT_FALSE(component.metadata);
  }
  return found;
}

template <typename Kind>
std::string refusal(const std::vector<std::string>& files,
                    const std::string& file_name = "") {
  return error_of<Kind>([&] { return programs(files, file_name); });
}

using Programs = std::map<std::string, std::string>;

TEST(Layout, SuffixIsTheFormat) {
  EXPECT_EQ(format_of("a/model.onnx"), "onnx");
  EXPECT_EQ(format_of("openvino_model.xml"), "openvino");
  EXPECT_EQ(format_of("model.pt2"), "dynamo");
  EXPECT_EQ(format_of("model.pte"), "executorch");
  EXPECT_EQ(format_of("model.onnx.data"), "");
  EXPECT_EQ(format_of(".onnx"), "");
}

TEST(Layout, RoleIsTheNameWithoutItsVariant) {
  EXPECT_EQ(role_of("model.onnx"), "model");
  EXPECT_EQ(role_of("onnx/model_quantized.onnx"), "model");
  EXPECT_EQ(role_of("model_fp16.onnx"), "model");
  EXPECT_EQ(role_of("model_O4.onnx"), "model");
  EXPECT_EQ(role_of("model_q4f16.onnx"), "model");
  EXPECT_EQ(role_of("model_qint8_avx512_vnni.onnx"), "model");
  EXPECT_EQ(role_of("model_quint8_avx2.onnx"), "model");
  EXPECT_EQ(role_of("openvino/openvino_model_qint8_quantized.xml"), "model");
  EXPECT_EQ(role_of("decoder_model_merged_quantized.onnx"),
            "decoder_model_merged");
  EXPECT_EQ(role_of("openvino_decoder_with_past_model.xml"),
            "decoder_with_past_model");
  EXPECT_EQ(role_of("_quantized.onnx"), "_quantized");
}

TEST(Layout, OneProgramIsTheModel) {
  EXPECT_EQ(programs({"config.json", "model.onnx", "model.onnx_data"}),
            (Programs{{"model", "model.onnx"}}));
  EXPECT_EQ(programs({"onnx/model.onnx", "model.safetensors"}),
            (Programs{{"model", "onnx/model.onnx"}}));
  EXPECT_EQ(programs({"onnx/model_quantized.onnx"}),
            (Programs{{"model", "onnx/model_quantized.onnx"}}));
  EXPECT_EQ(programs({"openvino_model.xml", "openvino_model.bin",
                      "openvino_tokenizer.xml", "openvino_tokenizer.bin",
                      "openvino_detokenizer.xml", "openvino_detokenizer.bin"}),
            (Programs{{"model", "openvino_model.xml"}}));
  EXPECT_EQ(programs({"silero_vad.onnx"}),
            (Programs{{"silero_vad", "silero_vad.onnx"}}));
}

TEST(Layout, PartsOfOneModelAreItsComponents) {
  EXPECT_EQ(
      programs({"onnx/encoder_model.onnx", "onnx/decoder_model.onnx",
                "onnx/decoder_with_past_model.onnx",
                "onnx/decoder_model_merged.onnx"}),
      (Programs{
          {"encoder_model", "onnx/encoder_model.onnx"},
          {"decoder_model", "onnx/decoder_model.onnx"},
          {"decoder_with_past_model", "onnx/decoder_with_past_model.onnx"},
          {"decoder_model_merged", "onnx/decoder_model_merged.onnx"}}));
  EXPECT_EQ(
      programs({"openvino_encoder_model.xml", "openvino_encoder_model.bin",
                "openvino_decoder_model.xml", "openvino_decoder_model.bin"}),
      (Programs{{"encoder_model", "openvino_encoder_model.xml"},
                {"decoder_model", "openvino_decoder_model.xml"}}));
}

TEST(Layout, SeveralVariantsAreListedWithTheOptionThatPicks) {
  const std::vector<std::string> files = {"model.onnx", "onnx/model.onnx",
                                          "onnx/model_fp16.onnx",
                                          "onnx/model_quantized.onnx"};
  const std::string message = refusal<InvalidArgument>(files);
  EXPECT_TRUE(contains(
      message,
      ": holds several variants of 'model': model.onnx, onnx/model.onnx, "
      "onnx/model_fp16.onnx, onnx/model_quantized.onnx; pick one with the "
      "option file_name, such as file_name='model.onnx'"))
      << message;
}

TEST(Layout, FileNamePicksByNameOrPath) {
  const std::vector<std::string> files = {"model.onnx", "onnx/model.onnx",
                                          "onnx/model_fp16.onnx"};
  EXPECT_EQ(programs(files, "model.onnx"), (Programs{{"model", "model.onnx"}}));
  EXPECT_EQ(programs(files, "onnx/model.onnx"),
            (Programs{{"model", "onnx/model.onnx"}}));
  EXPECT_EQ(programs(files, "model_fp16.onnx"),
            (Programs{{"model", "onnx/model_fp16.onnx"}}));
  EXPECT_EQ(programs({"a/deep/model.onnx"}, "a/deep/model.onnx"),
            (Programs{{"model", "a/deep/model.onnx"}}));
}

TEST(Layout, FileNameIsNeverReplacedByAnother) {
  const std::string message = refusal<NotFound>(
      {"model.onnx", "onnx/model_fp16.onnx"}, "model_quantized.onnx");
  EXPECT_TRUE(contains(message,
                       ": has no 'model_quantized.onnx', which the option "
                       "file_name asks for; its programs are model.onnx, "
                       "onnx/model_fp16.onnx"))
      << message;
  EXPECT_TRUE(contains(refusal<Unsupported>({"config.json"}, "config.json"),
                       "config.json: is no program"));
  EXPECT_TRUE(contains(
      refusal<InvalidArgument>({"onnx/m.onnx", "openvino/m.onnx"}, "m.onnx"),
      "is the name of several: onnx/m.onnx, openvino/m.onnx; give the path"));
}

TEST(Layout, FileNameThatLeavesIsRefused) {
  for (const std::string name :
       {"../model.onnx", "/etc/passwd", "C:\\x.onnx"}) {
    EXPECT_TRUE(contains(refusal<InvalidArgument>({"model.onnx"}, name),
                         "the option file_name: expected a relative path"))
        << name;
  }
}

TEST(Layout, ProgramsThatAreNoPartsOfOneAreListed) {
  EXPECT_TRUE(contains(refusal<InvalidArgument>({"a.onnx", "b.onnx"}),
                       "holds several programs that are no known parts of one "
                       "model: a.onnx, b.onnx; pick one with the option "
                       "file_name, such as file_name='a.onnx'"));
}

TEST(Layout, OwnWeightsAloneSayHowToExport) {
  const std::string message =
      refusal<NotFound>({"config.json", "model.safetensors"});
  EXPECT_TRUE(contains(
      message,
      ": holds no export: looked for export.json, and for .onnx, .xml (with "
      "its .bin), .pt2 and .pte files there and in onnx/ and openvino/; found "
      "config.json, model.safetensors; these are a model's own weights: "
      "export it first, in Python with transformers.exporters"))
      << message;
}

TEST(Layout, EmptyAndUnrelatedFoldersSayWhatIsThere) {
  EXPECT_TRUE(contains(refusal<NotFound>({}), "; found nothing"));
  EXPECT_TRUE(contains(refusal<NotFound>({"pom.xml", "notes.txt"}),
                       "; found notes.txt, pom.xml"));
  std::vector<std::string> many;
  for (int i = 100; i < 150; ++i) many.push_back(std::to_string(i) + ".txt");
  EXPECT_TRUE(contains(refusal<NotFound>(many), "119.txt, and 30 more"));
}

TEST(Layout, ProgramLinkedFromElsewhereIsRefused) {
  const FakeFolder folder;
  const auto target = folder.write("elsewhere/model.onnx", "x");
  std::filesystem::create_directories(folder.path() / "export");
  std::filesystem::create_symlink(target, folder.path() / "export/model.onnx");
  EXPECT_TRUE(contains(error_of<InvalidArgument>([&] {
                         return find_programs(folder.path() / "export", "");
                       }),
                       "which is outside of"));
}

}  // namespace
}  // namespace modelrun
