// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target where libFuzzer is not at hand:
//
//   TARGET [-max_total_time=SECONDS] [-seed=NUMBER] [FILE | FOLDER]...
//
// Each file is first run as it is. Then, until the time is over, mutations of
// the files are run. The same seed makes the same mutations. An input that
// fails is left in the working folder as `crash-input`.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)())
    __attribute__((weak));

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInput = std::size_t{1} << 20;

std::string current_input;

void save_current_input() {
  std::ofstream("crash-input", std::ios::binary) << current_input;
  std::fprintf(stderr, "the input that failed is in crash-input\n");
}

void run(std::string input) {
  current_input = std::move(input);
  LLVMFuzzerTestOneInput(
      reinterpret_cast<const std::uint8_t*>(current_input.data()),
      current_input.size());
}

void add_file(const fs::path& path, std::vector<std::string>& inputs) {
  std::ifstream file(path, std::ios::binary);
  inputs.emplace_back(std::istreambuf_iterator<char>(file),
                      std::istreambuf_iterator<char>());
}

void add_inputs(const fs::path& path, std::vector<std::string>& inputs) {
  if (!fs::is_directory(path)) return add_file(path, inputs);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  // The order of a folder is not the same everywhere.
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) add_file(file, inputs);
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(const std::vector<std::string>& inputs) {
    std::string input = inputs[below(inputs.size())];
    const std::size_t steps = 1 + below(4);
    for (std::size_t i = 0; i < steps; ++i) step(input, inputs);
    if (input.size() > kMaxInput) input.resize(kMaxInput);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit);
  }

  void step(std::string& input, const std::vector<std::string>& inputs) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t length =
        below(std::min<std::size_t>(input.size() - at, 64) + 1);
    switch (below(7)) {
      case 0:
        if (at < input.size()) input[at] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(below(256));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      case 4: {
        const std::string& other = inputs[below(inputs.size())];
        const std::size_t from = below(other.size() + 1);
        input.insert(at, other.substr(from, below(200)));
        break;
      }
      case 5:
        input.insert(at, interesting());
        break;
      default:
        input.resize(at);
        break;
    }
  }

  std::string_view interesting() {
    static constexpr std::array<std::string_view, 20> kTokens = {
        "null",
        "-1",
        "1e999",
        "18446744073709551616",
        "[[[[[[[[",
        "{\"a\":",
        "\"",
        "\\",
        "\\u0000",
        "\\ud800",
        "{\"_t\":\"tensor\",\"i\":9}",
        "NaN",
        "../",
        "\xff",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        "\x7f",
        "\x80",
        "\x0b",
        "true",
        "[]"};
    return kTokens[below(kTokens.size())];
  }

  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  double seconds = 30;
  std::uint64_t seed = 1;
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    constexpr std::string_view kTime = "-max_total_time=";
    constexpr std::string_view kSeed = "-seed=";
    if (argument.starts_with(kTime)) {
      seconds = std::atof(argument.c_str() + kTime.size());
    } else if (argument.starts_with(kSeed)) {
      seed = std::strtoull(argument.c_str() + kSeed.size(), nullptr, 10);
    } else {
      add_inputs(argument, inputs);
    }
  }
  if (inputs.empty()) inputs.emplace_back();
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(save_current_input);
  }
  std::set_terminate([] {
    save_current_input();
    std::abort();
  });
  for (const std::string& input : inputs) run(input);
  Mutator mutator(seed);
  std::uint64_t runs = inputs.size();
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    run(mutator.mutate(inputs));
  }
  std::printf("%llu runs of %zu seeds, none failed\n",
              static_cast<unsigned long long>(runs), inputs.size());
  return 0;
}
