// SPDX-License-Identifier: Apache-2.0
// Every hand-made graph of the fixtures, against its recorded outputs.
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "onnxruntime_table.h"

namespace modelrun::onnxruntime_test {
namespace {

using Json = nlohmann::json;

struct StoredTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

std::map<std::string, StoredTensor> read_safetensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof length);
  const Json header = Json::parse(text.substr(8, length));
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = entry["data_offsets"][0];
    const std::size_t end = entry["data_offsets"][1];
    tensors[name] = {entry["dtype"], entry["shape"],
                     text.substr(8 + length + begin, end - begin)};
  }
  return tensors;
}

void expect_equal(const Fetched& got, const StoredTensor& expected,
                  double tolerance) {
  ASSERT_EQ(shape_of(got), expected.shape);
  const void* data = got->dl_tensor.data;
  const std::size_t size = expected.bytes.size();
  if (size == 0 || std::memcmp(data, expected.bytes.data(), size) == 0) return;
  ASSERT_EQ(expected.dtype, "F32") << "other types are equal bit for bit";
  const auto values = values_of<float>(got);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float value = 0;
    std::memcpy(&value, expected.bytes.data() + 4 * i, 4);
    if (std::isnan(value) && std::isnan(values[i])) continue;
    EXPECT_NEAR(values[i], value, tolerance) << "element " << i;
  }
}

class OnnxRuntimeGraphs : public OnnxRuntimeTest {
 protected:
  void run_case(modelrun_session* session, const Json& one) {
    SCOPED_TRACE(one["name"].get<std::string>());
    auto inputs = read_safetensors(graphs + one["inputs"].get<std::string>());
    auto outputs = read_safetensors(graphs + one["outputs"].get<std::string>());
    const modelrun_signature& ports = signature(session);
    Call call(session);
    for (std::size_t i = 0; i < ports.input_count; ++i) {
      StoredTensor& tensor = inputs.at(ports.inputs[i].name);
      call.input(i, {tensor.bytes.data(), ports.inputs[i].dtype, tensor.shape});
    }
    call.run();
    for (std::size_t i = 0; i < ports.output_count; ++i) {
      SCOPED_TRACE(ports.outputs[i].name);
      expect_equal(call.fetch(i), outputs.at(ports.outputs[i].name),
                   one["tolerance"]);
    }
  }

  const std::string graphs = MODELRUN_TEST_MODELS "/graphs/";
};

TEST_F(OnnxRuntimeGraphs, GiveTheirRecordedOutputs) {
  std::ifstream file(graphs + "index.json");
  std::size_t cases = 0;
  for (const Json& entry : Json::parse(file)) {
    const std::string name = entry["file"];
    if (entry["cases"].empty()) continue;
    SCOPED_TRACE(name);
    auto* session = load(graphs + name);
    for (const Json& one : entry["cases"]) run_case(session, one);
    cases += entry["cases"].size();
  }
  EXPECT_GT(cases, 20U);
}

}  // namespace
}  // namespace modelrun::onnxruntime_test
