// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "modelrun/error.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::contains;
using testing::error_of;

std::string refusal(const std::string& text) {
  return error_of<InvalidArgument>([&] { return parse_json(text, "f"); });
}

TEST(JsonText, ValuesAndTheOrderOfKeysAreKept) {
  const std::string text = R"({"z":1,"a":[true,null,-2,1.5,"x\"NaN"],)"
                           R"("m":{"k":18446744073709551615}})";
  EXPECT_EQ(parse_json(text, "f").dump(), text);
}

TEST(JsonText, PythonsNumbersAreNumbers) {
  const Json value =
      parse_json(R"([NaN, Infinity, -Infinity, "NaN", "a\\", Infinity])", "f");
  EXPECT_TRUE(std::isnan(value[0].get<double>()));
  EXPECT_EQ(value[1].get<double>(), HUGE_VAL);
  EXPECT_EQ(value[2].get<double>(), -HUGE_VAL);
  EXPECT_EQ(value[3].get<std::string>(), "NaN");
  EXPECT_EQ(value[5].get<double>(), HUGE_VAL);
}

TEST(JsonText, NonsenseIsRefusedWithItsPlace) {
  EXPECT_TRUE(contains(refusal(""), "f: is not JSON, at byte "));
  EXPECT_TRUE(contains(refusal("{\"a\":"), "unexpected end of input"));
  EXPECT_TRUE(contains(refusal("{\"a\":1} x"), "f: is not JSON, at byte 9"));
  EXPECT_TRUE(contains(refusal("{'a':1}"), "f: is not JSON"));
  EXPECT_TRUE(contains(refusal("[1e999]"), "f: is not JSON"));
  EXPECT_TRUE(contains(refusal(R"(["\ud800"])"), "f: is not JSON"));
  EXPECT_TRUE(contains(refusal(std::string("[\0]", 3)), "f: is not JSON"));
}

TEST(JsonText, MessagesOfEndlessTokensAreShort) {
  EXPECT_LT(refusal("[" + std::string(1000000, 'x')).size(), 400U);
  EXPECT_LT(refusal("[\"" + std::string(1000000, 'x')).size(), 400U);
}

TEST(JsonText, OtherEncodingsAreRefused) {
  EXPECT_EQ(refusal("[\"ab\xff\"]"), "f: is not UTF-8, at byte 4");
  EXPECT_EQ(refusal("[\"\xc0\x80\"]"), "f: is not UTF-8, at byte 2");
  EXPECT_EQ(refusal("[\"\xed\xa0\x80\"]"), "f: is not UTF-8, at byte 2");
  EXPECT_EQ(refusal("\xff\xfe[\0]"), "f: is not UTF-8, at byte 0");
}

TEST(JsonText, KeyTwiceIsRefused) {
  EXPECT_EQ(refusal(R"({"a":{"b":1},"a":2})"),
            "f: the key 'a' stands twice in one object");
  EXPECT_EQ(parse_json(R"([{"a":1},{"a":{"a":2}}])", "f").size(), 2U);
}

TEST(JsonText, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(128), "f").is_array());
  EXPECT_EQ(refusal(nested(129)), "f: is nested deeper than 128 levels");
  EXPECT_EQ(refusal(std::string(1000000, '[')),
            "f: is nested deeper than 128 levels");
}

TEST(JsonText, ManyKeysTakeLinearTime) {
  std::string text = "{\"k\":0";
  for (int i = 0; i < 200000; ++i) text += ",\"" + std::to_string(i) + "\":0";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text + "}", "f").size(), 200001U);
  // A search for each key would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(JsonText, TypesAreCheckedByTheirReaders) {
  EXPECT_EQ(error_of<InvalidArgument>([] { return json_string(Json(3), "f"); }),
            "f: expected a string, got the number 3");
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return json_integer(Json(1.5), "f"); }),
      "f: expected a 64-bit integer, got the number 1.5");
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return json_integer(Json(~std::uint64_t{0}), "f"); }),
            "f: expected a 64-bit integer, got the number "
            "18446744073709551615");
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return json_object(Json("x"), "f").size(); }),
            "f: expected an object, got the string 'x'");
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return json_array(Json(true), "f").size(); }),
            "f: expected an array, got true");
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return json_scalar(Json::array({1}), "f"); }),
            "f: expected null, a bool, a number or a string, got an array of "
            "1");
}

TEST(Printable, HidesWhatATerminalMustNotGet) {
  EXPECT_EQ(printable("модель"), "'модель'");
  EXPECT_EQ(printable(std::string_view("a\0\x1b[0m\x7f\xff", 8)),
            "'a\\x00\\x1b[0m\\x7f\\xff'");
  EXPECT_LT(printable(std::string(1000, 'x')).size(), 130U);
}

}  // namespace
}  // namespace modelrun
