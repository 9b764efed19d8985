// SPDX-License-Identifier: Apache-2.0
// Calls an export of a text encoder, such as BERT: call_model DIRECTORY
#include <modelrun/modelrun.h>

#include <cstdint>
#include <iostream>

using modelrun::ExportedModel, modelrun::Outputs, modelrun::Tensor;

int main(int argc, char** argv) try {
  if (argc != 2) throw modelrun::InvalidArgument("usage: call_model DIRECTORY");
  auto model = ExportedModel::from_pretrained(argv[1]);
  auto ids = Tensor::from<std::int64_t>({2, 45, 17, 3}, {1, 4});
  auto mask = Tensor::from<std::int64_t>({1, 1, 1, 1}, {1, 4});

  Outputs outputs = model({{"input_ids", ids}, {"attention_mask", mask}});
  std::cout << to_string(outputs) << "\n";
  Tensor hidden = outputs["last_hidden_state"].tensor();
  std::cout << "first element: " << hidden.data<float>()[0] << "\n";
} catch (const modelrun::Error& error) {
  std::cerr << "call_model: " << error.what() << "\n";
  return 1;
}
