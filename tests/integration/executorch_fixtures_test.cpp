// SPDX-License-Identifier: Apache-2.0
// Every committed ExecuTorch export through the plugin's table, against what
// the source model returned in eager PyTorch.
#include <algorithm>
#include <cstddef>
#include <map>

#include "artifact/artifact.h"
#include "executorch_table.h"
#include "support/tensor_difference.h"

namespace modelrun::executorch_test {
namespace {

using testing::Fixture;
using testing::Golden;
using testing::GoldenCase;
using Paths = std::map<std::size_t, std::string>;

/// The leaves' paths by their numbers.
Paths paths_of(const Structure& structure) {
  Paths paths;
  structure.for_each_leaf("",
                          [&](const std::string& path, const Structure& leaf) {
                            paths[leaf.leaf_index()] = path;
                          });
  return paths;
}

std::string constants_of(const Metadata& metadata) {
  nlohmann::json constants = nlohmann::json::array();
  const auto json = [](const Scalar& value) -> nlohmann::json {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return nullptr;
  };
  for (const auto& [position, path] : paths_of(*metadata.in_spec)) {
    for (const auto& [name, value] : metadata.in_constants) {
      if (name == path) constants.push_back({position, json(value)});
    }
  }
  return nlohmann::json{{"threads", 1}, {"in_constants", constants}}.dump();
}

class ExecuTorchFixtures : public ExecuTorchTest,
                           public ::testing::WithParamInterface<Fixture> {
 protected:
  void SetUp() override {
    ExecuTorchTest::SetUp();
    if (IsSkipped()) return;
    if (!GetParam().runs) GTEST_SKIP() << "its runtime cannot run it";
    artifact = load_artifact(GetParam().path);
  }

  const Component& component(const GoldenCase& golden) {
    for (const Component& each : artifact.components) {
      if (each.name == golden.component) return each;
    }
    throw std::runtime_error("no component " + golden.component);
  }

  void bind_inputs(Call& call, const Paths& paths, const Golden& inputs) {
    for (std::size_t i = 0; i < call.signature.input_count; ++i) {
      const modelrun_port& port = call.signature.inputs[i];
      const auto position = std::stoul(std::string(port.name).substr(1));
      call.input(i, view_of(inputs.tensor(paths.at(position)), port.dtype));
    }
  }

  /// The user's outputs are the last ones: earlier ones are mutated inputs.
  std::string difference(Call& call, const Paths& paths,
                         const Golden& outputs) {
    const std::size_t first = call.signature.output_count - paths.size();
    std::string text;
    for (const auto& [leaf, path] : paths) {
      const modelrun_port& port = call.signature.outputs[first + leaf];
      if (port.constant != nullptr || port.is_number != 0) continue;
      const Tensor actual =
          Tensor::from_dlpack(call.fetch(first + leaf).release());
      const std::string what = testing::tensor_difference(
          actual, outputs.tensor(path), GetParam().tolerance);
      if (!what.empty()) text += path + ": " + what + "\n";
    }
    return text;
  }

  Artifact artifact;
};

TEST_P(ExecuTorchFixtures, GiveEagersOutputs) {
  std::map<std::string, modelrun_session*> loaded;
  std::map<std::string, std::unique_ptr<Call>> calls;
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    const Component& part = component(golden);
    auto& session = loaded[part.name];
    if (session == nullptr) {
      session = load(part.file, constants_of(*part.metadata));
    }
    // One request serves calls of all shapes, one after the other.
    auto& call = calls[part.name];
    if (call == nullptr) call = std::make_unique<Call>(session);
    const Golden inputs = testing::load_golden(golden.inputs);
    bind_inputs(*call, paths_of(*part.metadata->in_spec), inputs);
    call->run();
    EXPECT_EQ(difference(*call, paths_of(*part.metadata->out_spec),
                         testing::load_golden(golden.outputs)),
              "");
  }
  calls.clear();
}

TEST_P(ExecuTorchFixtures, WriteTheSameToBoundOutputs) {
  const GoldenCase& golden = GetParam().cases.front();
  const Component& part = component(golden);
  const Golden inputs = testing::load_golden(golden.inputs);
  Call call(load(part.file, constants_of(*part.metadata)));
  bind_inputs(call, paths_of(*part.metadata->in_spec), inputs);
  call.run();
  std::vector<std::vector<std::byte>> expected, bound;
  std::vector<View> views;
  std::vector<std::size_t> ports;
  for (std::size_t i = 0; i < call.signature.output_count; ++i) {
    const modelrun_port& port = call.signature.outputs[i];
    if (port.constant != nullptr) continue;
    ports.push_back(i);
    const Fetched output = call.fetch(i);
    std::size_t bytes = port.dtype.bits / 8U;
    for (const auto size : shape_of(output)) {
      bytes *= static_cast<std::size_t>(size);
    }
    const auto* data = static_cast<const std::byte*>(output->dl_tensor.data);
    expected.emplace_back(data, data + bytes);
    auto& memory = bound.emplace_back(bytes);
    views.emplace_back(memory.data(), port.dtype, shape_of(output));
  }
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      std::fill(bound[i].begin(), bound[i].end(), std::byte{0x55});
      call.output(ports[i], views[i]);
    }
    call.run();
    EXPECT_EQ(bound, expected);
  }
}

TEST_P(ExecuTorchFixtures, NameTheirPortsByPosition) {
  for (const Component& part : artifact.components) {
    Call call(load(part.file, constants_of(*part.metadata)));
    const auto leaves = paths_of(*part.metadata->in_spec).size();
    for (std::size_t i = 0; i < call.signature.input_count; ++i) {
      const std::string name = call.signature.inputs[i].name;
      EXPECT_EQ(name[0], '#');
      EXPECT_LT(std::stoul(name.substr(1)), leaves);
    }
    for (std::size_t i = 0; i < call.signature.output_count; ++i) {
      EXPECT_EQ(call.signature.outputs[i].name, '#' + std::to_string(i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Committed, ExecuTorchFixtures,
                         ::testing::ValuesIn(testing::fixtures("executorch")),
                         [](const auto& fixture) {
                           std::string name = fixture.param.name;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace modelrun::executorch_test
