// SPDX-License-Identifier: Apache-2.0
// Every committed export through the library, against what the source model
// returned in eager PyTorch. ONNX Runtime must be there; the exports of other
// runtimes are skipped where their plugin or runtime is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "support/golden.h"

namespace modelrun::testing {
namespace {

class Fixtures : public ::testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    if (!GetParam().runs) {
      GTEST_SKIP() << "its runtime has no CPU kernels for " << GetParam().dtype;
    }
    if (GetParam().format == "onnx") return;
    try {
      (void)ExportedModel::from_pretrained(GetParam().path);
    } catch (const NotFound& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static Golden load(const std::filesystem::path& file) {
    Golden golden = load_golden(file);
    if (GetParam().format != "openvino") return golden;
    return with_float32(std::move(golden));
  }

  static ExportedModel component(const ExportedModel& model,
                                 const GoldenCase& golden) {
    return model.component(golden.component);
  }
};

TEST_P(Fixtures, NestedKwargsGiveEagersOutputs) {
  const auto model = ExportedModel::from_pretrained(GetParam().path);
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    const NamedValues kwargs = nested_kwargs(load(golden.inputs));
    const Outputs outputs = component(model, golden)(as_kwargs(kwargs));
    EXPECT_EQ(difference(outputs, load(golden.outputs), GetParam().tolerance),
              "");
  }
}

TEST_P(Fixtures, LeavesAsKwargsGiveEagersOutputs) {
  const auto model = ExportedModel::from_pretrained(GetParam().path);
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    const NamedValues kwargs = flat_kwargs(load(golden.inputs));
    const Outputs outputs = component(model, golden)(as_kwargs(kwargs));
    EXPECT_EQ(difference(outputs, load(golden.outputs), GetParam().tolerance),
              "");
  }
}

TEST_P(Fixtures, UnsharedInputsAndSharedOutputsGiveTheSame) {
  const auto model = ExportedModel::from_pretrained(GetParam().path);
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    const NamedValues kwargs = nested_kwargs(load(golden.inputs));
    const Golden expected = load(golden.outputs);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Outputs outputs = component(model, golden)(
          as_kwargs(kwargs), {.share_inputs = false, .share_outputs = true});
      EXPECT_EQ(difference(outputs, expected, GetParam().tolerance), "");
    }
  }
}

TEST_P(Fixtures, BoundCallsGiveTheSameEachTime) {
  const auto model = ExportedModel::from_pretrained(GetParam().path);
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    const NamedValues kwargs = nested_kwargs(load(golden.inputs));
    BoundCall bound = component(model, golden).bind(as_kwargs(kwargs));
    for (int repeat = 0; repeat < 3; ++repeat) {
      EXPECT_EQ(difference(bound(), load(golden.outputs), GetParam().tolerance),
                "");
    }
  }
}

// A cache goes from one call's outputs into the next call, across components,
// as generation does it.
TEST_P(Fixtures, CachesFedBackGiveEagersOutputs) {
  const auto model = ExportedModel::from_pretrained(GetParam().path);
  std::map<std::string, Outputs> outputs;
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    NamedValues kwargs = nested_kwargs(load(golden.inputs));
    if (!golden.follows.empty()) {
      const Outputs& before = outputs.at(golden.follows);
      for (auto& [name, value] : kwargs) {
        const bool is_cache =
            value.is_nested() && before.contains(name) &&
            before.at(name).class_name() == value.class_name();
        if (is_cache) value = before.at(name);
      }
    }
    outputs[golden.name] = component(model, golden)(as_kwargs(kwargs));
    EXPECT_EQ(difference(outputs[golden.name], load(golden.outputs),
                         GetParam().tolerance),
              "");
  }
}

// What a cache's tensors must agree with, a program may not say in the names of
// its axes, and a manifest has no shapes of them.
bool takes_a_cache(const Fixture& fixture) {
  return std::any_of(
      fixture.cases.begin(), fixture.cases.end(),
      [](const GoldenCase& golden) { return !golden.follows.empty(); });
}

TEST_P(Fixtures, WarmupRunsEveryComponentOrSaysWhyNot) {
  const auto model = ExportedModel::from_pretrained(GetParam().path);
  if (GetParam().name.starts_with("qwen2-vl")) {
    // A grid of zeros does not fit the pixels.
    EXPECT_THROW(model.warmup(), BackendError);
  } else if (GetParam().format != "onnx" && takes_a_cache(GetParam())) {
    try {
      model.warmup();
    } catch (const BackendError& error) {
      EXPECT_NE(std::string(error.what()).find("failed in "), std::string::npos)
          << error.what();
    }
  } else {
    EXPECT_NO_THROW(model.warmup());
  }
}

std::string test_name(const ::testing::TestParamInfo<Fixture>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Onnx, Fixtures, ::testing::ValuesIn(fixtures("onnx")),
                         test_name);
INSTANTIATE_TEST_SUITE_P(OpenVino, Fixtures,
                         ::testing::ValuesIn(fixtures("openvino")), test_name);
INSTANTIATE_TEST_SUITE_P(ExecuTorch, Fixtures,
                         ::testing::ValuesIn(fixtures("executorch")),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Torch, Fixtures,
                         ::testing::ValuesIn(fixtures("dynamo")), test_name);

}  // namespace
}  // namespace modelrun::testing
