// SPDX-License-Identifier: Apache-2.0
// Binds the inputs once and calls many times: repeat_call DIRECTORY
#include <modelrun/modelrun.h>

#include <cstdint>
#include <iostream>

using modelrun::ExportedModel, modelrun::Outputs, modelrun::Tensor;

int main(int argc, char** argv) try {
  if (argc != 2) {
    throw modelrun::InvalidArgument("usage: repeat_call DIRECTORY");
  }
  auto model = ExportedModel::from_pretrained(argv[1]);
  auto ids = Tensor::from<std::int64_t>({2, 45, 17, 3}, {1, 4});
  auto mask = Tensor::from<std::int64_t>({1, 1, 1, 1}, {1, 4});

  auto call = model.bind({{"input_ids", ids}, {"attention_mask", mask}});
  for (std::int64_t token = 4; token < 8; ++token) {
    ids.data<std::int64_t>()[2] = token;
    const Outputs& outputs = call();
    auto hidden = outputs["last_hidden_state"].tensor();
    std::cout << token << ": " << hidden.data<float>()[0] << "\n";
  }
} catch (const modelrun::Error& error) {
  std::cerr << "repeat_call: " << error.what() << "\n";
  return 1;
}
