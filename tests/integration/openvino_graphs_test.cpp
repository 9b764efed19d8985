// SPDX-License-Identifier: Apache-2.0
// Every hand-made ONNX graph of the fixtures, read by OpenVINO, against its
// recorded outputs.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/dlpack.h"
#include "modelrun/tensor_file.h"
#include "openvino_table.h"
#include "support/tensor_difference.h"

namespace modelrun::openvino_test {
namespace {

using Json = nlohmann::json;
using modelrun::testing::tensor_difference;

class OpenVinoGraphs : public OpenVinoTest {
 protected:
  std::map<std::string, Tensor> tensors(const Json& name) const {
    std::map<std::string, Tensor> found;
    for (const auto& [key, value] :
         load_tensors(graphs + name.get<std::string>())) {
      found[key] = value.tensor();
    }
    return found;
  }

  void run_case(modelrun_session* session, const Json& one) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const auto inputs = tensors(one["inputs"]);
    const auto outputs = tensors(one["outputs"]);
    const modelrun_signature& ports = signature(session);
    Call call(session);
    for (std::size_t i = 0; i < ports.input_count; ++i) {
      const Tensor& tensor = find(inputs, ports.inputs[i]);
      call.input(i, {tensor.raw_data(),
                     ports.inputs[i].dtype,
                     {tensor.shape().begin(), tensor.shape().end()}});
    }
    call.run();
    for (std::size_t i = 0; i < ports.output_count; ++i) {
      SCOPED_TRACE(ports.outputs[i].name);
      const Fetched got = call.fetch(i);
      const auto shape = shape_of(got);
      const Tensor tensor = Tensor::view(
          got->dl_tensor.data,
          {.dtype = dtype_from_dlpack(got->dl_tensor.dtype).value(),
           .shape = Shape(shape)});
      EXPECT_EQ(tensor_difference(tensor, find(outputs, ports.outputs[i]),
                                  one["tolerance"]),
                "");
    }
  }

  /// Under any of the port's names.
  static const Tensor& find(const std::map<std::string, Tensor>& tensors,
                            const modelrun_port& port) {
    for (std::size_t i = 0; i < port.alias_count; ++i) {
      const auto found = tensors.find(port.aliases[i]);
      if (found != tensors.end()) return found->second;
    }
    return tensors.at(port.name);
  }

  const std::string graphs = MODELRUN_TEST_MODELS "/graphs/";
};

TEST_F(OpenVinoGraphs, GiveTheirRecordedOutputs) {
  std::ifstream file(graphs + "index.json");
  std::size_t cases = 0;
  for (const Json& entry : Json::parse(file)) {
    const std::string name = entry["file"];
    if (entry["cases"].empty()) continue;
    SCOPED_TRACE(name);
    auto* session = load(graphs + name);
    // OpenVINO computes int64 in 32 bits.
    if (name == "identity_int64.onnx") continue;
    for (const Json& one : entry["cases"]) run_case(session, one);
    cases += entry["cases"].size();
  }
  EXPECT_GT(cases, 20U);
}

TEST_F(OpenVinoGraphs, ThatDoNotLoadAreRefusedInWords) {
  std::ifstream file(graphs + "index.json");
  std::size_t refused = 0;
  for (const Json& entry : Json::parse(file)) {
    const std::string name = entry["file"];
    // OpenVINO reads what it knows of later versions.
    if (entry["loads"].get<bool>() || name.find("_99") != name.npos) continue;
    const Result result = try_load(graphs + name);
    EXPECT_NE(result.status, MODELRUN_OK) << name;
    EXPECT_TRUE(has(result.text, name)) << result.text;
    ++refused;
  }
  EXPECT_GT(refused, 5U);
}

}  // namespace
}  // namespace modelrun::openvino_test
