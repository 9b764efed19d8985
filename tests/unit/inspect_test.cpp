// SPDX-License-Identifier: Apache-2.0
#include "modelrun/inspect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "modelrun/error.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = MODELRUN_TEST_MODELS;

const TensorDescription& find(const std::vector<TensorDescription>& tensors,
                              const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const auto& tensor) { return tensor.name == name; });
  if (found == tensors.end()) throw NotFound(name);
  return *found;
}

TEST(Inspect, ADecoderIsDescribedWithoutItsRuntime) {
  const auto description = inspect(kModels / "llama-decode/onnx");
  EXPECT_EQ(description.format, "onnx");
  EXPECT_EQ(description.layout, "export.json");
  ASSERT_EQ(description.components.size(), 1u);
  const auto& component = description.components[0];
  EXPECT_EQ(component.name, "model");
  EXPECT_EQ(component.architecture, "LlamaForCausalLM");
  EXPECT_EQ(component.dtype, DType::float32);
  const auto& keys =
      find(component.inputs, "input.past_key_values.layers.0.keys");
  EXPECT_EQ(keys.dtype, DType::float32);
  ASSERT_EQ(keys.shape.size(), 4u);
  EXPECT_EQ(keys.shape[1], "2");
  const auto& grown =
      find(component.outputs, "output.past_key_values.layers.0.keys");
  const auto& ids = find(component.inputs, "input_ids");
  EXPECT_EQ(grown.shape[2], keys.shape[2] + " + " + ids.shape[1]);
  ASSERT_NE(component.input_structure, nullptr);
  EXPECT_NE(
      component.input_structure->find_path("past_key_values.layers.0.keys"),
      nullptr);
  ASSERT_NE(component.output_structure, nullptr);
  EXPECT_EQ(component.output_structure->class_name(),
            "transformers.modeling_outputs.CausalLMOutputWithPast");
  EXPECT_TRUE(std::any_of(
      component.packages.begin(), component.packages.end(),
      [](const auto& package) { return package.first == "transformers"; }));
}

TEST(Inspect, TheSizeIsThatOfTheProgramAndItsWeights) {
  const auto component = inspect(kModels / "bert/onnx").components.at(0);
  const fs::path weights = kModels / "bert/onnx/model.onnx.data";
  ASSERT_EQ(component.weight_files, std::vector<fs::path>{weights});
  EXPECT_EQ(component.size,
            fs::file_size(component.file) + fs::file_size(weights));
}

TEST(Inspect, ScalarKwargsOfTheProgramAreListed) {
  const auto component = inspect(kModels / "constants/onnx").components.at(0);
  const auto times = std::find_if(
      component.constants.begin(), component.constants.end(),
      [](const auto& constant) { return constant.first == "times"; });
  ASSERT_NE(times, component.constants.end());
  EXPECT_EQ(times->second, Scalar(std::int64_t{3}));
}

TEST(Inspect, ABareProgramFileHasNoMetadata) {
  const auto description = inspect(kModels / "bert/onnx/model.onnx");
  EXPECT_EQ(description.layout, "file");
  const auto& component = description.components.at(0);
  EXPECT_EQ(component.architecture, "");
  EXPECT_EQ(component.input_structure, nullptr);
  EXPECT_EQ(component.inputs.size(), 2u);
}

TEST(Inspect, AnExportInASubfolderIsFound) {
  const auto description = inspect(kModels / "bert", {.subfolder = "onnx"});
  EXPECT_EQ(description.components.at(0).inputs.size(), 2u);
}

TEST(Inspect, MissingWeightsAndDamagedProgramsAreRefused) {
  const modelrun::testing::FakeFolder folder;
  fs::copy(kModels / "bert/onnx", folder.path(), fs::copy_options::recursive);
  fs::remove(folder.path() / "model.onnx.data");
  try {
    (void)inspect(folder.path());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model.onnx.data"),
              std::string::npos)
        << error.what();
  }
  folder.write("model.onnx", "not a graph");
  EXPECT_THROW((void)inspect(folder.path()), InvalidArgument);
}

TEST(Inspect, WhatIsNotThereIsNotFound) {
  EXPECT_THROW((void)inspect(kModels / "no-such-export"), NotFound);
}

TEST(ExportFormat, IsToldByTheManifestOrTheFile) {
  EXPECT_EQ(export_format(kModels / "bert/onnx"), "onnx");
  EXPECT_EQ(export_format(kModels / "bert", {.subfolder = "openvino"}),
            "openvino");
  EXPECT_EQ(export_format(kModels / "bert/onnx/model.onnx"), "onnx");
  EXPECT_THROW((void)export_format(kModels / "no-such-export"), NotFound);
}

}  // namespace
}  // namespace modelrun
