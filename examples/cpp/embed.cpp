// SPDX-License-Identifier: Apache-2.0
// Compares a question with some answers: embed DIRECTORY
#include <modelrun/modelrun.h>

#include <array>
#include <iostream>
#include <string>

using modelrun::Embedder, modelrun::Tensor;

int main(int argc, char** argv) try {
  if (argc != 2) throw modelrun::InvalidArgument("usage: embed DIRECTORY");
  auto embedder = Embedder::from_pretrained(argv[1]);
  const std::array<std::string, 3> answers = {"Paris is the capital of France.",
                                              "Cats sleep most of the day.",
                                              "Water boils at 100 degrees."};

  Tensor question = embedder({"How long does a cat sleep?"});
  Tensor scores = cosine_similarity(question, embedder(answers));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::cout << scores.data<float>()[i] << "  " << answers[i] << "\n";
  }
} catch (const modelrun::Error& error) {
  std::cerr << "embed: " << error.what() << "\n";
  return 1;
}
