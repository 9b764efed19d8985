// SPDX-License-Identifier: Apache-2.0
#include "core/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace modelrun {
namespace {

using Names = std::vector<std::string>;

TEST(Nearest, AMisspeltNameFindsItsNeighbour) {
  const Names names{"input_ids", "attention_mask", "pixel_values"};
  EXPECT_EQ(nearest_name("input_id", names), "input_ids");
  EXPECT_EQ(nearest_name("inputs_ids", names), "input_ids");
  EXPECT_EQ(nearest_name("inptu_ids", names), "input_ids");
  EXPECT_EQ(nearest_name("atention_masks", names), "attention_mask");
}

TEST(Nearest, AFarNameFindsNothing) {
  const Names names{"input_ids", "attention_mask"};
  EXPECT_EQ(nearest_name("pixel_values", names), "");
  EXPECT_EQ(nearest_name("position_ids", names), "");
  EXPECT_EQ(nearest_name("input_ids", {}), "");
}

TEST(Nearest, TheDistanceMayBeAThirdOfTheLength) {
  EXPECT_EQ(nearest_name("abcdef", Names{"xxcdef"}), "xxcdef");
  EXPECT_EQ(nearest_name("abcdef", Names{"xxxdef"}), "");
  EXPECT_EQ(nearest_name("abcdefgh", Names{"xxcdefgh"}), "xxcdefgh");
  EXPECT_EQ(nearest_name("abcdefgh", Names{"xxxdefgh"}), "");
}

TEST(Nearest, AShortNameMustShareALetter) {
  EXPECT_EQ(nearest_name("id", Names{"ids"}), "ids");
  EXPECT_EQ(nearest_name("ix", Names{"id"}), "id");
  EXPECT_EQ(nearest_name("ab", Names{"cd"}), "");
  EXPECT_EQ(nearest_name("x", Names{"y"}), "");
  EXPECT_EQ(nearest_name("", Names{"x"}), "");
}

TEST(Nearest, TheClosestWinsAndTheFirstOfEqualOnes) {
  EXPECT_EQ(nearest_name("keys", Names{"kexx", "keyz", "kays"}), "keyz");
  EXPECT_EQ(nearest_name("layer_2", Names{"layer_0", "layer_1"}), "layer_0");
}

TEST(Nearest, NamesTooLongToCompareAreLeftOut) {
  const std::string huge(257, 'a');
  const std::string large(256, 'a');
  EXPECT_EQ(nearest_name(huge, Names{huge}), "");
  EXPECT_EQ(nearest_name(large, Names{huge, large}), large);
}

TEST(Nearest, DidYouMeanIsASentenceEndOrNothing) {
  EXPECT_EQ(did_you_mean("kyes", Names{"keys", "values"}), "");
  EXPECT_EQ(did_you_mean("key", Names{"keys", "values"}),
            ", did you mean 'keys'?");
  EXPECT_EQ(did_you_mean("key", {}), "");
}

TEST(Nearest, AQuotedListIsSeparatedByCommas) {
  EXPECT_EQ(quoted_list({}), "");
  EXPECT_EQ(quoted_list(Names{"a"}), "'a'");
  EXPECT_EQ(quoted_list(Names{"a", "", "c"}), "'a', '', 'c'");
}

}  // namespace
}  // namespace modelrun
