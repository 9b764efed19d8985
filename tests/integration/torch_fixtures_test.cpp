// SPDX-License-Identifier: Apache-2.0
// Every committed torch.export archive through the plugin's table, against
// what the source model returned in eager PyTorch.
#include <map>

#include "artifact/artifact.h"
#include "support/tensor_difference.h"
#include "torch_table.h"

namespace modelrun::torch_test {
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

std::string options_of(const Metadata& metadata) {
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

class TorchFixtures : public TorchTest,
                      public ::testing::WithParamInterface<Fixture> {
 protected:
  void SetUp() override {
    TorchTest::SetUp();
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

  void bind_inputs(Call& call, modelrun_session* session, const Paths& paths,
                   const Golden& inputs) {
    const modelrun_signature& ports = signature(session);
    for (std::size_t i = 0; i < ports.input_count; ++i) {
      const modelrun_port& port = ports.inputs[i];
      const auto position = std::stoul(std::string(port.name).substr(1));
      call.input(i, view_of(inputs.tensor(paths.at(position)), port.dtype));
    }
  }

  std::string difference(Call& call, modelrun_session* session,
                         const Paths& paths, const Golden& outputs) {
    const modelrun_signature& ports = signature(session);
    EXPECT_EQ(ports.output_count, paths.size());
    std::string text;
    for (const auto& [leaf, path] : paths) {
      // What is no tensor is no golden one: the library's own test has it.
      if (ports.outputs[leaf].constant != nullptr ||
          ports.outputs[leaf].is_number != 0) {
        continue;
      }
      const Tensor actual = Tensor::from_dlpack(call.fetch(leaf).release());
      const std::string what = testing::tensor_difference(
          actual, outputs.tensor(path), GetParam().tolerance);
      if (!what.empty()) text += path + ": " + what + "\n";
    }
    return text;
  }

  Artifact artifact;
};

TEST_P(TorchFixtures, GiveEagersOutputs) {
  std::map<std::string, modelrun_session*> loaded;
  std::map<std::string, std::unique_ptr<Call>> calls;
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    const Component& part = component(golden);
    auto& session = loaded[part.name];
    if (session == nullptr) {
      session = load(part.file, options_of(*part.metadata));
    }
    // One request serves calls of all shapes, one after the other.
    auto& request = calls[part.name];
    if (request == nullptr) request = std::make_unique<Call>(table(), session);
    const Golden inputs = testing::load_golden(golden.inputs);
    bind_inputs(*request, session, paths_of(*part.metadata->in_spec), inputs);
    for (int repeat = 0; repeat < 2; ++repeat) {
      request->run();
      EXPECT_EQ(
          difference(*request, session, paths_of(*part.metadata->out_spec),
                     testing::load_golden(golden.outputs)),
          "");
    }
  }
  calls.clear();
}

TEST_P(TorchFixtures, WriteTheSameToBoundOutputs) {
  const GoldenCase& golden = GetParam().cases.front();
  const Component& part = component(golden);
  const Golden inputs = testing::load_golden(golden.inputs);
  modelrun_session* session = load(part.file, options_of(*part.metadata));
  Call request(table(), session);
  bind_inputs(request, session, paths_of(*part.metadata->in_spec), inputs);
  request.run();
  std::map<std::size_t, Tensor> expected;
  std::map<std::size_t, Tensor> bound;
  for (std::size_t i = 0; i < signature(session).output_count; ++i) {
    const modelrun_port& port = signature(session).outputs[i];
    if (port.constant != nullptr) continue;
    expected[i] = Tensor::from_dlpack(request.fetch(i).release());
    bound[i] = Tensor::zeros(expected[i].dtype(), expected[i].shape());
    request.output(i, view_of(bound[i], port.dtype));
  }
  request.run();
  for (const auto& [i, tensor] : expected) {
    EXPECT_EQ(testing::tensor_difference(bound[i], tensor, 0), "") << i;
  }
}

TEST_P(TorchFixtures, NameTheirPortsByPosition) {
  for (const Component& part : artifact.components) {
    modelrun_session* session = load(part.file, options_of(*part.metadata));
    const auto leaves = paths_of(*part.metadata->in_spec).size();
    const modelrun_signature& ports = signature(session);
    for (std::size_t i = 0; i < ports.input_count; ++i) {
      const std::string name = ports.inputs[i].name;
      EXPECT_EQ(name[0], '#');
      EXPECT_LT(std::stoul(name.substr(1)), leaves);
    }
    for (std::size_t i = 0; i < ports.output_count; ++i) {
      EXPECT_EQ(ports.outputs[i].name, '#' + std::to_string(i));
    }
    // Every condition on the inputs is understood.
    EXPECT_TRUE(host->lines.empty()) << host->lines[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Committed, TorchFixtures,
                         ::testing::ValuesIn(testing::fixtures("dynamo")),
                         [](const auto& fixture) {
                           std::string name = fixture.param.name;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace modelrun::torch_test
