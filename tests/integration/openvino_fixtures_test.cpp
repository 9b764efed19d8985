// SPDX-License-Identifier: Apache-2.0
// Every committed OpenVINO export through the raw table, against what the
// source model returned in eager PyTorch.
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/dlpack.h"
#include "modelrun/tensor.h"
#include "openvino_table.h"
#include "support/golden.h"
#include "support/tensor_difference.h"

namespace modelrun::openvino_test {
namespace {

using modelrun::testing::Fixture;
using modelrun::testing::fixtures;
using modelrun::testing::Golden;
using modelrun::testing::GoldenCase;
using modelrun::testing::load_golden;
using modelrun::testing::tensor_difference;
using modelrun::testing::with_float32;

std::string leaf_path(std::string name) {
  for (const std::string prefix : {"input.", "output."}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

View view_of(const Tensor& tensor) {
  return {tensor.raw_data(),
          to_dlpack(tensor.dtype()),
          {tensor.shape().begin(), tensor.shape().end()}};
}

/// A number that was given as a kwarg, as the port takes it.
Tensor scalar_tensor(const Value& value, DLDataType dtype) {
  if (dtype.code == kDLBool) return Tensor::scalar(value.as<bool>());
  if (dtype.code == kDLFloat) {
    return Tensor::scalar(static_cast<float>(value.as<double>()));
  }
  return Tensor::scalar(value.as<std::int64_t>());
}

class OpenVinoFixtures : public OpenVinoTest,
                         public ::testing::WithParamInterface<Fixture> {
 protected:
  modelrun_session* component(const std::string& name) {
    auto& session = components_[name];
    if (session == nullptr) {
      std::ifstream file(GetParam().path / "export.json");
      const auto manifest = nlohmann::json::parse(file);
      const std::string program = manifest["components"][name]["file"];
      session = load(GetParam().path / program);
    }
    return session;
  }

  void run(const GoldenCase& golden) {
    auto* session = component(golden.component);
    const modelrun_signature& ports = signature(session);
    const Golden inputs = with_float32(load_golden(golden.inputs));
    std::map<std::string, Value> kwargs;
    for (const auto& [name, value] : flat_kwargs(inputs)) kwargs[name] = value;
    Call call(session);
    std::vector<Tensor> kept;
    for (std::size_t i = 0; i < ports.input_count; ++i) {
      const auto& port = ports.inputs[i];
      const Value& value = kwargs.at(leaf_path(port.name));
      kept.push_back(value.is_tensor() ? value.tensor()
                                       : scalar_tensor(value, port.dtype));
      call.input(i, view_of(kept.back()));
    }
    for (std::size_t i = 0; i < ports.state_count; ++i) {
      const auto found = kwargs.find(ports.states[i].name);
      if (found != kwargs.end()) call.state(i, view_of(found->second.tensor()));
    }
    call.run();
    compare(call, ports, with_float32(load_golden(golden.outputs)));
  }

  void compare(Call& call, const modelrun_signature& ports,
               const Golden& expected) {
    std::size_t compared = 0;
    const auto compare_one = [&](modelrun_port_kind kind, std::size_t index,
                                 const modelrun_port& port) {
      const std::string path = leaf_path(port.name);
      for (const auto& [name, value] : expected.tensors) {
        if (name != path) continue;
        SCOPED_TRACE(path);
        const Fetched got = call.fetch(index, kind);
        const auto shape = shape_of(got);
        const Tensor tensor = Tensor::view(
            got->dl_tensor.data,
            {.dtype = dtype_from_dlpack(got->dl_tensor.dtype).value(),
             .shape = Shape(shape)});
        EXPECT_EQ(
            tensor_difference(tensor, value.tensor(), GetParam().tolerance),
            "");
        ++compared;
      }
    };
    for (std::size_t i = 0; i < ports.output_count; ++i) {
      compare_one(MODELRUN_OUTPUT, i, ports.outputs[i]);
    }
    for (std::size_t i = 0; i < ports.state_count; ++i) {
      compare_one(MODELRUN_STATE, i, ports.states[i]);
    }
    EXPECT_EQ(compared, expected.tensors.size());
  }

  std::map<std::string, modelrun_session*> components_;
};

TEST_P(OpenVinoFixtures, GiveEagersOutputs) {
  for (const GoldenCase& golden : GetParam().cases) {
    SCOPED_TRACE(golden.name);
    run(golden);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpenVinoFixtures,
                         ::testing::ValuesIn(fixtures("openvino")),
                         [](const auto& fixture) {
                           std::string name = fixture.param.name;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace modelrun::openvino_test
