// SPDX-License-Identifier: Apache-2.0
#include "modelrun/structure.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/scalar_text.h"

namespace modelrun {
namespace {

using Kind = Structure::Kind;
using Entries = std::vector<Structure::Entry>;
using Paths = std::vector<std::pair<std::string, std::size_t>>;

// Nodes cannot be copied, so there is no initializer list of them.
template <typename... Nodes>
std::vector<Structure> nodes(Nodes&&... items) {
  std::vector<Structure> all;
  (all.push_back(std::forward<Nodes>(items)), ...);
  return all;
}

Structure::Entry entry(Structure::Key key, Structure value) {
  return {std::move(key), std::move(value)};
}

template <typename... Items>
Entries entries(Items&&... items) {
  Entries all;
  (all.push_back(std::forward<Items>(items)), ...);
  return all;
}

Structure layer(std::size_t first) {
  return Structure::object(
      "cache.Layer", entries(entry("keys", Structure::leaf(first)),
                             entry("values", Structure::leaf(first + 1))));
}

/// The output of a decoder with a cache of two layers.
Structure decoder_output() {
  Structure cache = Structure::object(
      "cache.DynamicCache",
      entries(entry("layers", Structure::list(nodes(layer(1), layer(3)))),
              entry("is_sliding", Structure::constant(false))));
  return Structure::object(
      "outputs.ModelOutput",
      entries(entry("logits", Structure::leaf(0)),
              entry("past_key_values", std::move(cache)),
              entry("attentions", Structure::constant({}))));
}

Paths paths_of(const Structure& structure, const std::string& prefix = "") {
  Paths paths;
  structure.for_each_leaf(prefix,
                          [&](const std::string& path, const Structure& leaf) {
                            paths.emplace_back(path, leaf.leaf_index());
                          });
  return paths;
}

TEST(Structure, ALeafIsASlot) {
  const Structure leaf = Structure::leaf(7);
  EXPECT_TRUE(leaf.is_leaf());
  EXPECT_FALSE(leaf.is_constant());
  EXPECT_EQ(leaf.kind(), Kind::leaf);
  EXPECT_EQ(leaf.leaf_index(), 7u);
  EXPECT_EQ(leaf.size(), 0u);
  EXPECT_EQ(leaf.class_name(), "");
}

TEST(Structure, ANumberIsALeafOfAnotherKind) {
  const Structure number = Structure::number(7);
  EXPECT_TRUE(number.is_leaf());
  EXPECT_TRUE(number.is_number());
  EXPECT_EQ(number.leaf_index(), 7u);
  EXPECT_FALSE(number == Structure::leaf(7));
  EXPECT_FALSE(Structure::leaf(7).is_number());
  EXPECT_EQ(to_string(number), "number");
}

TEST(Structure, AConstantIsAValue) {
  const Structure constant = Structure::constant(std::string("eager"));
  EXPECT_TRUE(constant.is_constant());
  EXPECT_FALSE(constant.is_leaf());
  EXPECT_EQ(constant.value(), Scalar("eager"));
  EXPECT_EQ(constant.leaf_count(), 0u);
}

TEST(Structure, ContainersHaveTheirOwnClasses) {
  EXPECT_EQ(Structure::tuple({}).class_name(), "builtins.tuple");
  EXPECT_EQ(Structure::list({}).class_name(), "builtins.list");
  EXPECT_EQ(Structure::dict({}).class_name(), "builtins.dict");
  EXPECT_EQ(Structure::tuple({}, "my.Point").class_name(), "my.Point");
  EXPECT_EQ(Structure::tuple({}).kind(), Kind::tuple);
  EXPECT_EQ(Structure::list({}).kind(), Kind::list);
  EXPECT_EQ(Structure::dict({}).kind(), Kind::dict);
  EXPECT_EQ(Structure::object("my.Output", {}).kind(), Kind::object);
}

TEST(Structure, ChildrenHaveKeysAndSteps) {
  const Structure dict =
      Structure::dict(entries(entry("a", Structure::leaf(0)),
                              entry(std::int64_t{-3}, Structure::leaf(1))));
  ASSERT_EQ(dict.size(), 2u);
  EXPECT_EQ(dict.key(0), Structure::Key("a"));
  EXPECT_EQ(dict.key(1), Structure::Key(std::int64_t{-3}));
  EXPECT_EQ(dict.step(0), "a");
  EXPECT_EQ(dict.step(1), "-3");
  EXPECT_EQ(dict.child(1).leaf_index(), 1u);
  const Structure list =
      Structure::list(nodes(Structure::leaf(0), Structure::leaf(1)));
  EXPECT_EQ(list.step(1), "1");
}

TEST(StructureFind, IsByKeyIntKeyOrIndex) {
  const Structure dict = Structure::dict(entries(
      entry("a", Structure::leaf(0)),
      entry(std::int64_t{1}, Structure::leaf(1)),
      entry(std::numeric_limits<std::int64_t>::min(), Structure::leaf(2))));
  EXPECT_EQ(dict.find("a")->leaf_index(), 0u);
  EXPECT_EQ(dict.find("1")->leaf_index(), 1u);
  EXPECT_EQ(dict.find("-9223372036854775808")->leaf_index(), 2u);
  EXPECT_EQ(dict.find("0"), nullptr);  // not an index: a dict has keys
  EXPECT_EQ(dict.find(""), nullptr);
  EXPECT_EQ(dict.find("A"), nullptr);
  const Structure tuple =
      Structure::tuple(nodes(Structure::leaf(4), Structure::leaf(5)));
  EXPECT_EQ(tuple.find("1")->leaf_index(), 5u);
  for (const char* key :
       {"2", "-1", "", "x", "1x", " 1", "+1", "1.0", "18446744073709551616"}) {
    EXPECT_EQ(tuple.find(key), nullptr) << key;
  }
  EXPECT_EQ(Structure::leaf(0).find("0"), nullptr);
  EXPECT_EQ(Structure::constant(1.0).find("0"), nullptr);
}

TEST(StructureFindPath, WalksDottedSteps) {
  const Structure output = decoder_output();
  EXPECT_EQ(output.find_path("logits")->leaf_index(), 0u);
  EXPECT_EQ(output.find_path("past_key_values.layers.1.keys")->leaf_index(),
            3u);
  EXPECT_EQ(output.find_path("past_key_values.layers")->size(), 2u);
  for (const char* path :
       {"", ".", "logits.", ".logits", "logits.0", "past_key_values.",
        "past_key_values..layers", "past_key_values.layers.2",
        "past_key_values.layers.1.keys.0", "layers"}) {
    EXPECT_EQ(output.find_path(path), nullptr) << path;
  }
}

TEST(StructureFindPath, AKeyWithDotsIsMatchedAsAWhole) {
  const Structure tree = Structure::dict(entries(
      entry("a", Structure::dict(entries(entry("b", Structure::leaf(0)),
                                         entry("x", Structure::leaf(1))))),
      entry("a.b", Structure::leaf(2)),
      entry("a.c", Structure::dict(entries(entry("d.e", Structure::leaf(3)),
                                           entry("", Structure::leaf(4)))))));
  EXPECT_EQ(tree.find_path("a.b")->leaf_index(), 2u);
  EXPECT_EQ(tree.find_path("a.x")->leaf_index(), 1u);
  EXPECT_EQ(tree.find_path("a.c.d.e")->leaf_index(), 3u);
  EXPECT_EQ(tree.find_path("a.c.")->leaf_index(), 4u);
  EXPECT_EQ(tree.find_path("a.c.d"), nullptr);
}

TEST(StructureLeaves, AreVisitedInTreeOrderWithTheirPaths) {
  const Structure output = decoder_output();
  EXPECT_EQ(output.leaf_count(), 5u);
  EXPECT_EQ(paths_of(output), (Paths{{"logits", 0},
                                     {"past_key_values.layers.0.keys", 1},
                                     {"past_key_values.layers.0.values", 2},
                                     {"past_key_values.layers.1.keys", 3},
                                     {"past_key_values.layers.1.values", 4}}));
}

TEST(StructureLeaves, ArePrefixed) {
  EXPECT_EQ(paths_of(layer(8), "cache.0"),
            (Paths{{"cache.0.keys", 8}, {"cache.0.values", 9}}));
  EXPECT_EQ(paths_of(Structure::leaf(2), "ids"), (Paths{{"ids", 2}}));
  EXPECT_EQ(paths_of(Structure::leaf(2)), (Paths{{"", 2}}));
  EXPECT_TRUE(paths_of(Structure::constant(true), "flag").empty());
  EXPECT_TRUE(paths_of(Structure::dict({}), "none").empty());
}

TEST(StructureEquality, IsOfKindsClassesKeysAndConstants) {
  EXPECT_EQ(decoder_output(), decoder_output());
  EXPECT_FALSE(Structure::leaf(0) == Structure::leaf(1));
  EXPECT_FALSE(Structure::leaf(0) == Structure::constant({}));
  EXPECT_FALSE(Structure::tuple({}) == Structure::list({}, "builtins.tuple"));
  EXPECT_FALSE(Structure::list({}) == Structure::list({}, "my.List"));
  EXPECT_FALSE(Structure::constant(true) ==
               Structure::constant(std::int64_t{1}));
  EXPECT_FALSE(Structure::constant(1.0) ==
               Structure::constant(std::int64_t{1}));
  EXPECT_FALSE(Structure::list(nodes(Structure::leaf(0))) ==
               Structure::list({}));
  EXPECT_FALSE(layer(0) == layer(1));
}

// Int keys came back as strings, and then no spec matched.
TEST(StructureEquality, AnIntKeyIsNotItsText) {
  const auto with_key = [](Structure::Key key) {
    return Structure::dict(entries(entry(std::move(key), Structure::leaf(0))));
  };
  EXPECT_FALSE(with_key("0") == with_key(std::int64_t{0}));
  EXPECT_EQ(with_key(std::int64_t{0}), with_key(std::int64_t{0}));
}

TEST(Structure, AMoveTakesTheTree) {
  Structure original = decoder_output();
  const Structure* const cache = original.find("past_key_values");
  Structure moved = std::move(original);
  EXPECT_EQ(moved, decoder_output());
  EXPECT_EQ(moved.find("past_key_values"), cache);
  original = Structure::leaf(3);  // a moved-from node can be assigned to
  EXPECT_EQ(original, Structure::leaf(3));
  std::swap(original, moved);
  EXPECT_EQ(original, decoder_output());
}

TEST(Structure, IsDrawnOneNodeALine) {
  EXPECT_EQ(to_string(decoder_output()),
            "ModelOutput\n"
            "├── logits: tensor\n"
            "├── past_key_values: DynamicCache\n"
            "│   ├── layers: list\n"
            "│   │   ├── 0: Layer\n"
            "│   │   │   ├── keys: tensor\n"
            "│   │   │   └── values: tensor\n"
            "│   │   └── 1: Layer\n"
            "│   │       ├── keys: tensor\n"
            "│   │       └── values: tensor\n"
            "│   └── is_sliding: False\n"
            "└── attentions: None");
  EXPECT_EQ(to_string(Structure::leaf(0)), "tensor");
  EXPECT_EQ(to_string(Structure::object("Plain", {})), "Plain");
  EXPECT_EQ(to_string(Structure::constant(std::string("a\nb"))), "'a\\nb'");
}

TEST(Structure, NestsDeeply) {
  constexpr int kDepth = 1000;
  const auto deep = [] {
    Structure node = Structure::leaf(0);
    for (int i = 0; i < kDepth; ++i) {
      node = Structure::list(nodes(std::move(node)));
    }
    return node;
  };
  const Structure node = deep();
  EXPECT_EQ(node.leaf_count(), 1u);
  EXPECT_EQ(node, deep());
  const Paths paths = paths_of(node);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0].first.size(), 2u * kDepth - 1);
  EXPECT_EQ(node.find_path(paths[0].first)->leaf_index(), 0u);
}

TEST(Scalar, IsWrittenAsPythonDoes) {
  EXPECT_EQ(to_string(Scalar()), "None");
  EXPECT_EQ(to_string(Scalar(true)), "True");
  EXPECT_EQ(to_string(Scalar(false)), "False");
  EXPECT_EQ(to_string(Scalar(std::int64_t{-3})), "-3");
  EXPECT_EQ(to_string(Scalar(1.5)), "1.5");
  EXPECT_EQ(to_string(Scalar("eager")), "'eager'");
}

TEST(FloatText, IsPythonsRepr) {
  const std::pair<double, const char*> texts[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {100000.0, "100000.0"},
      {-1e15, "-1000000000000000.0"},
      {9007199254740993.0, "9007199254740992.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {-2.5e300, "-2.5e+300"},
      {0.0001, "0.0001"},
      {0.00012345678901234567, "0.00012345678901234567"},
      {0.00001, "1e-05"},
      {1.25e-7, "1.25e-07"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {1.0 / 3.0, "0.3333333333333333"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"}};
  for (const auto& [value, text] : texts) EXPECT_EQ(float_text(value), text);
}

TEST(QuotedText, IsPythonsReprOnOneLine) {
  EXPECT_EQ(quoted_text(""), "''");
  EXPECT_EQ(quoted_text("it's"), "\"it's\"");
  EXPECT_EQ(quoted_text("a \"b\""), "'a \"b\"'");
  EXPECT_EQ(quoted_text("it's \"b\""), "'it\\'s \"b\"'");
  EXPECT_EQ(quoted_text("a\\b\n\r\t"), "'a\\\\b\\n\\r\\t'");
  EXPECT_EQ(quoted_text({"\x1b[0m\0\x7f", 6}), "'\\x1b[0m\\x00\\x7f'");
  EXPECT_EQ(quoted_text("é├"), "'é├'");
}

}  // namespace
}  // namespace modelrun
