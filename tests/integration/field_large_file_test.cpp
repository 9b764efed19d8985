// SPDX-License-Identifier: Apache-2.0
// Weights in a file that is longer than 32 bits count.
#include <gtest/gtest.h>

#include <fstream>

#include "integration/onnxruntime_graph.h"
#include "support/exports.h"
#include "support/fake_folder.h"

namespace modelrun::testing {
namespace {

namespace fs = std::filesystem;
namespace ort = onnxruntime_test;

constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kRows = (std::int64_t{1} << 23) + 3;
constexpr std::int64_t kTableBytes =
    kRows * kWidth * static_cast<std::int64_t>(sizeof(float));
static_assert(kTableBytes > std::int64_t{1} << 31);
// Data is aligned to pages, as exporters do it.
constexpr std::int64_t kBiasAt = (kTableBytes / 4096 + 1) * 4096;

std::string floats(float value) {
  return ort::raw(std::vector<float>(kWidth, value));
}

// A table of zeros but for its last row, and a bias behind it. The zeros take
// no room on the disk.
void write_data(const fs::path& file) {
  std::ofstream stream(file, std::ios::binary);
  stream.seekp(kTableBytes - kWidth * static_cast<std::int64_t>(sizeof(float)));
  stream << floats(7);
  stream.seekp(kBiasAt);
  stream << floats(0.5F);
}

std::string embedding_graph() {
  const auto external = [](std::int64_t offset, std::int64_t length) {
    return std::map<std::string, std::string>{
        {"location", "model.onnx.data"},
        {"offset", std::to_string(offset)},
        {"length", std::to_string(length)}};
  };
  return ort::Graph{
      .inputs = {{"ids", ort::tensor_type(ort::kInt64, {std::string("n")})}},
      .outputs = {{"y",
                   ort::tensor_type(ort::kFloat, {std::string("n"), kWidth})}},
      .nodes = {{"Gather", {"table", "ids"}, {"rows"}},
                {"Add", {"rows", "bias"}, {"y"}}},
      .initializers = {ort::initializer("table", ort::kFloat, {kRows, kWidth},
                                        "", external(0, kTableBytes)),
                       ort::initializer("bias", ort::kFloat, {kWidth}, "",
                                        external(kBiasAt, kWidth * 4))}}
      .text();
}

TEST(FieldLargeFile, DataPastTwoGigabytesLoadsAndRuns) {
  const FakeFolder folder;
  if (fs::space(folder.path()).available < 2 * kTableBytes) {
    GTEST_SKIP() << "the disk of " << folder.path() << " lacks room";
  }
  write_data(folder.path() / "model.onnx.data");
  const auto file = folder.write("model.onnx", embedding_graph());
  const auto model = ExportedModel::from_pretrained(file);
  const Tensor ids = Tensor::from<std::int64_t>({kRows - 1, 0, kRows - 2}, {3});
  const Tensor y = model({{"ids", ids}})[0].tensor();
  ASSERT_EQ(y.shape(), (Shape{3, kWidth}));
  for (std::int64_t i = 0; i < 3 * kWidth; ++i) {
    EXPECT_EQ(y.data<float>()[static_cast<std::size_t>(i)],
              i < kWidth ? 7.5F : 0.5F)
        << i;
  }
  EXPECT_EQ(refusal(model, {{"ids", int64s({1}, kRows)}}),
            "input 'ids' holds " + std::to_string(kRows) +
                ", which is not a row of the embedding that it indexes: "
                "expected 0 to " +
                std::to_string(kRows - 1));
}

}  // namespace
}  // namespace modelrun::testing
