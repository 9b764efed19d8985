// SPDX-License-Identifier: Apache-2.0
#include "modelrun/tokenizer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Ids = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

const fs::path kTokenizers = fs::path(MODELRUN_TEST_SUPPORT) / "tokenizers";

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Tokenizer wordpiece(const TokenizerOptions& options = {}) {
  return Tokenizer::from_pretrained(kTokenizers / "wordpiece", options);
}

Tokenizer bytelevel() {
  return Tokenizer::from_pretrained(kTokenizers / "bytelevel");
}

// A directory of one test with copies of a tokenizer's files.
class TokenizerFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::path(testing::TempDir()) /
                 (std::string("modelrun_tokenizer_") + test->name());
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    fs::copy(kTokenizers / "wordpiece" / "tokenizer.json",
             directory_ / "tokenizer.json");
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const char* name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] Tokenizer load() const {
    return Tokenizer::from_pretrained(directory_);
  }
  // A path as messages show it.
  [[nodiscard]] std::string shown(const char* name) const {
    return (directory_ / name).string();
  }

  fs::path directory_;
};

template <typename Failure, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Failure& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

EncodeOptions encode_options(const Json& json) {
  EncodeOptions options;
  options.return_offsets_mapping = true;
  options.add_special_tokens = json.value("add_special_tokens", true);
  options.padding =
      json.at("padding") == "longest" ? Padding::longest : Padding::max_length;
  const auto truncation = json.value("truncation", "");
  if (truncation == "longest_first") {
    options.truncation = Truncation::longest_first;
  } else if (truncation == "only_first") {
    options.truncation = Truncation::only_first;
  } else if (truncation == "only_second") {
    options.truncation = Truncation::only_second;
  }
  const auto side = [&json](const char* field, std::optional<Side>& out) {
    if (json.contains(field)) {
      out = json.at(field) == "left" ? Side::left : Side::right;
    }
  };
  side("padding_side", options.padding_side);
  side("truncation_side", options.truncation_side);
  if (json.contains("max_length")) options.max_length = json.at("max_length");
  if (json.contains("pad_to_multiple_of")) {
    options.pad_to_multiple_of = json.at("pad_to_multiple_of");
  }
  return options;
}

template <typename T>
std::vector<T> flat(const Json& rows) {
  std::vector<T> values;
  for (const auto& row : rows) {
    for (const auto& value : row) values.push_back(value.get<T>());
  }
  return values;
}

TEST(Tokenizer, GoldensOfTransformersAreMetExactly) {
  const auto goldens = Json::parse(content(kTokenizers / "goldens.json"));
  ASSERT_GT(goldens.size(), 40U);
  for (const auto& golden : goldens) {
    SCOPED_TRACE(golden.at("tokenizer").dump() + golden.at("options").dump());
    const auto tokenizer = Tokenizer::from_pretrained(
        kTokenizers / golden.at("tokenizer").get<std::string>());
    const auto texts = golden.at("texts").get<Texts>();
    const auto options = encode_options(golden.at("options"));
    const auto& pairs = golden.at("text_pairs");
    const auto encoding = pairs.is_null()
                              ? tokenizer(texts, options)
                              : tokenizer(texts, pairs.get<Texts>(), options);
    const auto& expected = golden.at("expected");
    ASSERT_EQ(encoding.input_ids, flat<std::int64_t>(expected["input_ids"]));
    ASSERT_EQ(encoding.attention_mask,
              flat<std::int64_t>(expected["attention_mask"]));
    ASSERT_EQ(encoding.token_type_ids,
              flat<std::int64_t>(expected["token_type_ids"]));
    ASSERT_EQ(encoding.special_tokens_mask,
              flat<std::int64_t>(expected["special_tokens_mask"]));
    ASSERT_EQ(encoding.offset_mapping,
              (flat<std::array<std::int64_t, 2>>(expected["offset_mapping"])));
    ASSERT_EQ(encoding.batch, static_cast<std::int64_t>(texts.size()));
    for (std::size_t row = 0; row < texts.size(); ++row) {
      const auto width = static_cast<std::size_t>(encoding.sequence);
      const std::span ids(encoding.input_ids.data() + row * width, width);
      ASSERT_EQ(tokenizer.decode(ids), expected["decoded"][row]);
      ASSERT_EQ(tokenizer.decode(ids, {.skip_special_tokens = true}),
                expected["decoded_skip"][row]);
    }
  }
}

TEST(Tokenizer, BakedPaddingAndTruncationAreDataAndNeverApplied) {
  const auto tokenizer = wordpiece();
  EXPECT_EQ(tokenizer.config().baked_max_length, 16);
  EXPECT_EQ(tokenizer.config().baked_padding, Padding::max_length);
  EXPECT_EQ(tokenizer.config().baked_padding_length, 16);
  EXPECT_EQ(tokenizer("the fox").sequence, 4);
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the ";
  EXPECT_EQ(tokenizer(text).sequence, 42);
}

TEST(Tokenizer, ModelMaxLengthIsWhatTruncationFallsBackTo) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the ";
  const EncodeOptions cut = {.truncation = Truncation::longest_first};
  EXPECT_EQ(wordpiece()(text, cut).sequence, 24);
  EXPECT_EQ(wordpiece({.model_max_length = 7})(text, cut).sequence, 7);
}

TEST(Tokenizer, HugeModelMaxLengthMeansNone) {
  EXPECT_EQ(bytelevel().config().model_max_length, std::nullopt);
  EXPECT_EQ(message_of<InvalidArgument>([] {
              (void)bytelevel()("a", {.truncation = Truncation::longest_first});
            }),
            "cannot truncate: no max_length is given and the tokenizer has no "
            "model_max_length; give max_length");
}

TEST(Tokenizer, ConfigurationOfTheFilesIsRead) {
  const auto tokenizer = bytelevel();
  EXPECT_EQ(tokenizer.config().padding_side, Side::left);
  EXPECT_EQ(tokenizer.config().truncation_side, Side::left);
  EXPECT_EQ(tokenizer.config().model_input_names,
            (Texts{"input_ids", "attention_mask"}));
  EXPECT_EQ(tokenizer.special_token_id("pad_token"), 1);
  EXPECT_EQ(tokenizer.special_token_id("eos_token"), 0);
  EXPECT_EQ(tokenizer.special_token_id("cls_token"), std::nullopt);
  EXPECT_EQ(wordpiece().config().model_input_names,
            (Texts{"input_ids", "token_type_ids", "attention_mask"}));
}

TEST(Tokenizer, TokensAndIdsNameEachOther) {
  const auto tokenizer = wordpiece();
  const auto id = tokenizer.token_to_id("[SEP]");
  ASSERT_TRUE(id);
  EXPECT_EQ(tokenizer.id_to_token(*id), "[SEP]");
  EXPECT_EQ(tokenizer.token_to_id("nosuchtoken"), std::nullopt);
  EXPECT_EQ(tokenizer.token_to_id("\xff"), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(-1), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(std::int64_t{1} << 40), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(tokenizer.size() - 1).has_value(), true);
  EXPECT_EQ(tokenizer.id_to_token(tokenizer.size()), std::nullopt);
}

TEST(Tokenizer, TextThatIsNotUtf8IsRefusedByItsPlace) {
  const Texts texts = {"fine", "caf\xe9 au lait"};
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              (void)wordpiece()(texts, {.padding = Padding::longest});
            }),
            "cannot encode the texts: text 1 is not valid UTF-8 at byte 3");
  const Texts pairs = {"\xff", "fine"};
  EXPECT_EQ(
      message_of<InvalidArgument>([&] { (void)wordpiece()(pairs, texts, {}); }),
      "cannot encode the texts: text 0 is not valid UTF-8 at byte 0");
}

TEST(Tokenizer, RowsOfUnequalLengthNeedAPadding) {
  const Texts texts = {"the fox", "the"};
  EXPECT_EQ(message_of<InvalidArgument>([&] { (void)wordpiece()(texts); }),
            "texts of 3 to 4 tokens do not make one block; set padding to "
            "longest or max_length, or encode them one by one");
  const Texts equal = {"the fox", "fox the"};
  EXPECT_EQ(wordpiece()(equal).sequence, 4);
}

TEST(Tokenizer, RowLongerThanAFixedLengthIsRefused) {
  const Texts texts = {"the", "the fox the fox"};
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              (void)wordpiece()(
                  texts, {.padding = Padding::max_length, .max_length = 4});
            }),
            "text 1 has 6 tokens, more than max_length 4; set truncation to "
            "longest_first or raise max_length");
}

TEST(Tokenizer, OptionsThatContradictAreRefused) {
  const auto refused = [](const EncodeOptions& options) {
    return message_of<InvalidArgument>(
        [&] { (void)wordpiece()("the fox", options); });
  };
  EXPECT_EQ(refused({.max_length = 4}),
            "max_length is 4, but neither truncation nor padding to max_length "
            "is asked for; set truncation to longest_first or padding to "
            "max_length");
  EXPECT_EQ(refused({.padding = Padding::max_length, .max_length = 0}),
            "max_length: expected 1 to 2147483647, got 0");
  EXPECT_EQ(refused({.threads = 0}),
            "threads: expected 1 to 2147483647, got 0");
  EXPECT_EQ(refused({.pad_to_multiple_of = 8}),
            "pad_to_multiple_of is 8, but no padding is asked for; set padding "
            "to longest or max_length");
  EXPECT_EQ(refused({.padding = Padding::longest,
                     .truncation = Truncation::longest_first,
                     .max_length = 9,
                     .pad_to_multiple_of = 8}),
            "rows cut to max_length 9 would be padded past it: it is not a "
            "multiple of pad_to_multiple_of 8");
  EXPECT_EQ(refused({.truncation = Truncation::longest_first, .max_length = 1}),
            "cannot encode the texts: text 0: max_length 1 leaves no room for "
            "the 2 special tokens; raise it or set add_special_tokens to "
            "false");
  EXPECT_EQ(refused({.truncation = Truncation::only_second, .max_length = 3}),
            "cannot encode the texts: text 0: Truncation error: Second "
            "sequence not provided");
}

TEST(Tokenizer, PairsNeedAsManySecondTexts) {
  const Texts texts = {"a", "b"};
  const Texts pairs = {"c"};
  EXPECT_EQ(
      message_of<InvalidArgument>([&] { (void)wordpiece()(texts, pairs, {}); }),
      "cannot encode pairs: expected as many text_pairs as texts, got 1 "
      "for 2");
}

TEST(Tokenizer, EmptyBatchGivesEmptyArrays) {
  const Texts none;
  const auto encoding = wordpiece()(none, {.padding = Padding::longest});
  EXPECT_EQ(encoding.batch, 0);
  EXPECT_TRUE(encoding.input_ids.empty());
  EXPECT_EQ(wordpiece()(none, none, {}).batch, 0);
}

TEST(Tokenizer, LengthsAreThoseWithoutPadding) {
  const Texts texts = {"the fox", ""};
  const auto encoding = wordpiece()(texts, {.padding = Padding::longest});
  EXPECT_EQ(encoding.lengths, (Ids{4, 2}));
  EXPECT_EQ(encoding.attention_mask, (Ids{1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_TRUE(encoding.offset_mapping.empty());
}

TEST(Tokenizer, NegativeIdIsRefusedAndUnknownIdAddsNothing) {
  EXPECT_EQ(message_of<InvalidArgument>(
                [] { (void)wordpiece().decode(Ids{1, -100}); }),
            "cannot decode id -100 at place 1: ids are not negative");
  EXPECT_EQ(wordpiece().decode(Ids{4, 100000}), "[MASK]");
  EXPECT_EQ(wordpiece().decode(Ids{}), "");
}

TEST(Tokenizer, LowercasingIsAddedOnceAndOnlyWhenAsked) {
  const std::string text = "The FOX";
  const auto json = content(kTokenizers / "bytelevel" / "tokenizer.json");
  const auto plain = Tokenizer::from_json(json);
  const auto lower = Tokenizer::from_json(json, {.do_lower_case = true});
  EXPECT_EQ(plain.decode(plain(text).input_ids), "The FOX");
  EXPECT_EQ(lower.decode(lower(text).input_ids), "the fox");
}

TEST(Tokenizer, ThreadsGiveTheRowsOfOneThreadInOrder) {
  const auto tokenizer = bytelevel();
  Texts texts;
  for (int i = 0; i < 300; ++i) texts.push_back("text " + std::to_string(i));
  const auto one = tokenizer(texts, {.padding = Padding::longest});
  const auto four =
      tokenizer(texts, {.padding = Padding::longest, .threads = 4});
  EXPECT_EQ(one.input_ids, four.input_ids);
  texts[200] = "\xc3\x28";
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              (void)tokenizer(texts,
                              {.padding = Padding::longest, .threads = 4});
            }),
            "cannot encode the texts: text 200 is not valid UTF-8 at byte 0");
}

TEST(Tokenizer, FailureInAnyThreadNamesTheFirstText) {
  const Texts texts(300, "the fox");
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              (void)wordpiece()(texts, {.truncation = Truncation::only_second,
                                        .max_length = 3,
                                        .threads = 4});
            }),
            "cannot encode the texts: text 0: Truncation error: Second "
            "sequence not provided");
}

TEST(Tokenizer, OneTokenizerServesManyThreads) {
  const auto tokenizer = wordpiece();
  const auto expected = tokenizer("She's reading the paper").input_ids;
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call) {
        equal += tokenizer("She's reading the paper").input_ids == expected;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(equal, 200);
}

TEST(Tokenizer, WithoutAPadTokenPaddingIsRefused) {
  const auto tokenizer =
      Tokenizer::from_json(content(kTokenizers / "bytelevel/tokenizer.json"));
  const Texts texts = {"a", "a b"};
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { (void)tokenizer(texts, {.padding = Padding::longest}); }),
            "cannot pad: the tokenizer has no pad_token; name one in "
            "tokenizer_config.json, such as its eos_token");
  EXPECT_EQ(tokenizer("a b").sequence, 3);
}

TEST(Tokenizer, ContentThatIsNoTokenizerIsRefused) {
  for (const char* json :
       {"", "{", "[]", "{}", "null", "{\"version\":\"1.0\"}", "\xff\xfe"}) {
    const auto message =
        message_of<InvalidArgument>([&] { (void)Tokenizer::from_json(json); });
    EXPECT_EQ(message.find("the given JSON is not a tokenizer: "), 0U) << json;
  }
  const std::string deep(100000, '[');
  EXPECT_THROW((void)Tokenizer::from_json(deep), InvalidArgument);
}

TEST(Tokenizer, PanicInsideTheTokenizerIsAnErrorWithItsWords) {
  auto json = Json::parse(content(kTokenizers / "wordpiece/tokenizer.json"));
  json["pre_tokenizer"] = {{"type", "FixedLength"}, {"length", 0}};
  const auto tokenizer = Tokenizer::from_json(json.dump());
  const Texts texts(300, "the fox");
  for (const int threads : {1, 4}) {
    EXPECT_EQ(message_of<BackendError>(
                  [&] { (void)tokenizer(texts, {.threads = threads}); }),
              "cannot encode the texts: panic: chunk size must be non-zero");
  }
}

TEST_F(TokenizerFiles, TokenizerJsonAloneIsEnough) {
  const auto tokenizer = load();
  EXPECT_EQ(tokenizer.special_token_id("pad_token"), 0);
  EXPECT_EQ(tokenizer.config().model_max_length, std::nullopt);
  const Texts texts = {"the", "the fox"};
  EXPECT_EQ(tokenizer(texts, {.padding = Padding::longest}).sequence, 4);
}

TEST_F(TokenizerFiles, SpecialTokensMapFillsWhatTheConfigLeavesOut) {
  write("tokenizer_config.json",
        R"({"pad_token": {"content": "[MASK]", "lstrip": true}})");
  write("special_tokens_map.json",
        R"({"pad_token": "[UNK]", "sep_token": {"content": "[SEP]"}})");
  const auto tokenizer = load();
  EXPECT_EQ(tokenizer.special_token_id("pad_token"), 4);
  EXPECT_EQ(tokenizer.special_token_id("sep_token"), 3);
}

TEST_F(TokenizerFiles, PadTokenOutsideTheVocabularyIsRefusedWhenPadding) {
  write("tokenizer_config.json", R"({"pad_token": "<none>"})");
  const auto tokenizer = load();
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { (void)tokenizer("a", {.padding = Padding::longest}); }),
            "cannot pad: the pad_token '<none>' is not in the tokenizer's "
            "vocabulary");
}

TEST_F(TokenizerFiles, WrongFieldsNameFileAndField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"pad_token": 3})",
       "pad_token: expected a string or an object with a string 'content', "
       "got the number 3"},
      {R"({"eos_token": {"text": "a"}})",
       "eos_token: expected a string or an object with a string 'content', "
       "got an object"},
      {R"({"padding_side": "up"})",
       "padding_side: expected \"left\" or \"right\", got the string 'up'"},
      {R"({"model_max_length": 0})",
       "model_max_length: expected a positive integer, got the number 0"},
      {R"({"model_max_length": 1.5})",
       "model_max_length: expected an integer, got the number 1.5"},
      {R"({"model_input_names": "input_ids"})",
       "model_input_names: expected a list of strings, got the string "
       "'input_ids'"},
      {R"({"clean_up_tokenization_spaces": 1})",
       "clean_up_tokenization_spaces: expected true or false, got the number "
       "1"},
  };
  for (const auto& [json, expected] : cases) {
    write("tokenizer_config.json", json);
    EXPECT_EQ(message_of<InvalidArgument>([&] { (void)load(); }),
              shown("tokenizer_config.json") + ": " + expected);
  }
  write("tokenizer_config.json", "[1]");
  EXPECT_THROW((void)load(), InvalidArgument);
  write("tokenizer_config.json", "{");
  EXPECT_THROW((void)load(), InvalidArgument);
}

TEST_F(TokenizerFiles, MissingTokenizerSaysWhatIsThereInstead) {
  fs::remove(directory_ / "tokenizer.json");
  write("vocab.txt", "[PAD]\n");
  EXPECT_EQ(message_of<NotFound>([&] { (void)load(); }),
            "no tokenizer in " + directory_.string() +
                ": 'tokenizer.json' is missing ('vocab.txt' alone is not "
                "enough); make it with AutoTokenizer.from_pretrained(...)"
                ".save_pretrained(...) of transformers");
}

TEST_F(TokenizerFiles, TruncatedTokenizerJsonIsRefusedByName) {
  const auto json = content(kTokenizers / "wordpiece/tokenizer.json");
  write("tokenizer.json", json.substr(0, json.size() / 2));
  const auto message = message_of<InvalidArgument>([&] { (void)load(); });
  EXPECT_EQ(message.find(shown("tokenizer.json") + " is not a tokenizer: "),
            0U);
}

}  // namespace
}  // namespace modelrun
