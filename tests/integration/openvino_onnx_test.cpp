// SPDX-License-Identifier: Apache-2.0
// Exports to ONNX, run on OpenVINO when it is asked for.
#include <gtest/gtest.h>

#include <string>

#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "support/golden.h"

namespace modelrun::testing {
namespace {

class OnnxOnOpenVino : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxOnOpenVino, GivesEagersOutputs) {
  const Fixture used = fixture(GetParam());
  try {
    (void)ExportedModel::from_pretrained(used.path, {.backend = "openvino"});
  } catch (const NotFound& error) {
    GTEST_SKIP() << error.what();
  }
  const auto model =
      ExportedModel::from_pretrained(used.path, {.backend = "openvino"});
  for (const GoldenCase& golden : used.cases) {
    SCOPED_TRACE(golden.name);
    const NamedValues kwargs = nested_kwargs(load_golden(golden.inputs));
    const Outputs outputs =
        model.component(golden.component)(as_kwargs(kwargs));
    EXPECT_EQ(difference(outputs, load_golden(golden.outputs), used.tolerance),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnnxOnOpenVino,
                         ::testing::Values("bert", "bert-bf16", "bert-f16",
                                           "llama-generation",
                                           "llama-generation-bf16",
                                           "t5-generation",
                                           "whisper-generation"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace modelrun::testing
