// SPDX-License-Identifier: Apache-2.0
// Programs with flipped bits: an error or an answer, never a crash.
#include <random>
#include <sstream>

#include "openvino_table.h"

namespace modelrun::openvino_test {
namespace {

namespace fs = std::filesystem;

const fs::path kBert = fs::path(MODELRUN_TEST_MODELS) / "bert/openvino";

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class OpenVinoDamage : public OpenVinoTest {
 protected:
  void write(const std::string& xml, const std::string& bin) const {
    std::ofstream(folder / "model.xml", std::ios::binary) << xml;
    std::ofstream(folder / "model.bin", std::ios::binary) << bin;
  }

  /// Loads and runs what is in the folder, whatever comes of it: the hidden
  /// state of one token, or nothing.
  std::vector<float> use() {
    if (try_load(folder / "model.xml").status != MODELRUN_OK) return {};
    Call call(sessions.back());
    std::vector<std::int64_t> ids{15}, mask{1};
    const View views[] = {{ids, {1, 1}}, {mask, {1, 1}}};
    for (std::size_t i = 0; i < 2; ++i) {
      (void)call.try_bind(MODELRUN_INPUT, i, &views[i].tensor);
    }
    Fetched hidden;
    if (call.try_run().status != MODELRUN_OK ||
        call.try_fetch(0, hidden).status != MODELRUN_OK) {
      return {};
    }
    return values_of<float>(hidden);
  }

  const std::string xml = read_text(kBert / "openvino_model.xml");
  const std::string bin = read_text(kBert / "openvino_model.bin");
  std::mt19937 random{7};

  std::string flipped(std::string text) {
    const std::size_t at = random() % text.size();
    text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    return text;
  }
};

TEST_F(OpenVinoDamage, FlippedBitsOfAGraphLeaveTheProcessAsItWas) {
  write(xml, bin);
  const auto expected = use();
  ASSERT_EQ(expected.size(), 32U);
  for (int i = 0; i < 20; ++i) {
    write(flipped(xml), bin);
    (void)use();
  }
  write(xml, bin);
  EXPECT_EQ(use(), expected);
}

TEST_F(OpenVinoDamage, FlippedBitsOfWeightsAreOnlyOtherNumbers) {
  for (int i = 0; i < 10; ++i) {
    write(xml, flipped(bin));
    EXPECT_EQ(use().size(), 32U);
  }
}

}  // namespace
}  // namespace modelrun::openvino_test
