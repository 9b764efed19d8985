// SPDX-License-Identifier: Apache-2.0
// Greedy decoding with an export for generation, whose components are
// "prefill" and "decode": decode DIRECTORY
#include <modelrun/modelrun.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

using modelrun::ExportedModel, modelrun::Outputs, modelrun::Tensor;
using Ids = std::vector<std::int64_t>;

// The likeliest token after the last position of logits [1, length,
// vocabulary].
std::int64_t likeliest(const Tensor& logits) {
  auto values = logits.data<const float>().last(logits.shape()[2]);
  return std::ranges::max_element(values) - values.begin();
}

Tensor row(const Ids& ids) {
  return Tensor::from(std::span(ids), {1, std::ssize(ids)});
}

int main(int argc, char** argv) try {
  if (argc != 2) throw modelrun::InvalidArgument("usage: decode DIRECTORY");
  auto model = ExportedModel::from_pretrained(argv[1]);
  auto prefill = model.component("prefill");
  auto decode = model.component("decode");

  Ids tokens = {1, 17, 42, 5};
  Ids positions(tokens.size());
  std::iota(positions.begin(), positions.end(), 0);
  Outputs outputs = prefill({{"input_ids", row(tokens)},
                             {"attention_mask", row(Ids(tokens.size(), 1))},
                             {"position_ids", row(positions)}});
  for (int step = 0; step < 8; ++step) {
    const auto position = std::ssize(tokens);
    tokens.push_back(likeliest(outputs["logits"].tensor()));
    std::cout << tokens.back() << " " << std::flush;
    outputs = decode({{"input_ids", row({tokens.back()})},
                      {"attention_mask", row(Ids(tokens.size(), 1))},
                      {"position_ids", row({position})},
                      {"past_key_values", outputs["past_key_values"]}});
  }
  std::cout << "\n";
} catch (const modelrun::Error& error) {
  std::cerr << "decode: " << error.what() << "\n";
  return 1;
}
