// SPDX-License-Identifier: Apache-2.0
// Damage in what a program holds for XNNPACK, which follows it as it is.
#include <cstring>
#include <functional>
#include <random>

#include "executorch_table.h"

namespace modelrun::executorch_test {
namespace {

/// Where the graph of a delegate's data is in a program's bytes.
struct Graph {
  std::size_t header = 0;
  std::size_t start = 0;
  std::size_t size = 0;
};

template <typename T>
T number_at(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::vector<Graph> graphs_of(const std::string& program) {
  std::vector<Graph> graphs;
  for (std::size_t at = program.find("XH00"); at != program.npos;
       at = program.find("XH00", at + 4)) {
    const std::size_t header = at - 4;
    graphs.push_back(
        {.header = header,
         .start = header + number_at<std::uint32_t>(program, header + 10),
         .size = number_at<std::uint32_t>(program, header + 14)});
  }
  return graphs;
}

class ExecuTorchDamage : public ExecuTorchTest {
 protected:
  /// Loads a damaged program and, where that works, runs it; whether it loaded.
  bool survives(const std::string& bytes) {
    write_file(folder / "damaged.pte", bytes);
    const Result result = try_load(folder / "damaged.pte", R"({"threads": 1})");
    if (result.status != MODELRUN_OK) {
      EXPECT_TRUE(has(result.text, "damaged.pte"));
      return false;
    }
    {
      Call call(sessions.back());
      std::vector<std::int64_t> ids(6, 1);
      for (std::size_t i = 0; i < call.signature.input_count; ++i) {
        static_cast<void>(call.try_input(i, {ids, {2, 3}}));
      }
      static_cast<void>(call.try_run());
    }
    table().session_destroy(sessions.back());
    sessions.pop_back();
    return true;
  }

  /// The message of loading the program with one number of a header changed.
  std::string refusal(std::size_t field, std::uint32_t value) {
    std::string bytes = read_file(program("t5-encoder"));
    const Graph graph = graphs_of(bytes).front();
    std::memcpy(bytes.data() + graph.header + field, &value, sizeof value);
    write_file(folder / "damaged.pte", bytes);
    return try_load(folder / "damaged.pte").text;
  }
};

TEST_F(ExecuTorchDamage, FlippedBitsOfDelegatesGraphsAreRefusedOrStillRun) {
  const std::string good = read_file(program("t5-encoder"));
  const auto graphs = graphs_of(good);
  ASSERT_GT(graphs.size(), 5U);
  std::mt19937 random(11);
  int refused = 0;
  for (int flip = 0; flip < 200; ++flip) {
    const Graph& graph = graphs[random() % graphs.size()];
    std::string bad = good;
    bad[graph.start + random() % graph.size] ^=
        static_cast<char>(1U << (random() % 8));
    if (!survives(bad)) ++refused;
  }
  EXPECT_GT(refused, 20);
}

TEST_F(ExecuTorchDamage, FlippedBitsAnywhereAreRefusedOrStillRun) {
  const std::string good = read_file(program("t5-encoder"));
  std::mt19937 random(12);
  for (int flip = 0; flip < 200; ++flip) {
    std::string bad = good;
    bad[random() % bad.size()] ^= static_cast<char>(1U << (random() % 8));
    survives(bad);
  }
}

TEST_F(ExecuTorchDamage, HeadersThatLeadOutsideAreRefused) {
  const std::uint32_t far = 0x7fffffff;
  EXPECT_TRUE(has(refusal(10, far), "the header leads outside of it"));
  EXPECT_TRUE(has(refusal(14, far), "the header leads outside of it"));
  EXPECT_TRUE(has(refusal(18, far), "the header leads outside of it"));
  EXPECT_TRUE(has(refusal(22, far), "the header leads outside of it"));
  EXPECT_TRUE(
      has(refusal(4, 0), "in its data for XNNPACK, there is no header"));
}

TEST_F(ExecuTorchDamage, GraphOfAnotherSchemaIsRefused) {
  std::string bytes = read_file(program("t5-encoder"));
  bytes[graphs_of(bytes).front().start + 6] = '7';
  write_file(folder / "damaged.pte", bytes);
  EXPECT_TRUE(has(try_load(folder / "damaged.pte").text,
                  "the graph is of another schema"));
}

}  // namespace
}  // namespace modelrun::executorch_test
