// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "artifact/pytree.h"
#include "modelrun/error.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::contains;
using testing::error_of;
using Kind = Structure::Kind;

const std::string kLeaf = R"({"type":null,"context":null,"children_spec":[]})";

// A node as treespec_dumps writes one: its context is JSON text.
std::string node(const std::string& type, const std::string& context,
                 const std::vector<std::string>& children) {
  std::string text = "{\"type\":" + nlohmann::json(type).dump() +
                     ",\"context\":" + nlohmann::json(context).dump() +
                     ",\"children_spec\":[";
  for (std::size_t i = 0; i < children.size(); ++i) {
    text += (i == 0 ? "" : ",") + children[i];
  }
  return text + "]}";
}

std::string spec(const std::string& root) { return "[1, " + root + "]"; }

Structure parse(const std::string& root) {
  return parse_pytree(spec(root), "spec");
}

std::string refusal(const std::string& root) {
  return error_of<InvalidArgument>([&] { return parse(root); });
}

// A cache, whose context draws the tree of its leaves.
std::string cache(const std::string& context, std::size_t leaves) {
  return node("m.caches:Cache", context,
              std::vector<std::string>(leaves, kLeaf));
}

std::vector<std::string> leaf_paths(const Structure& tree) {
  std::vector<std::string> paths;
  tree.for_each_leaf("", [&](const std::string& path, const Structure&) {
    paths.push_back(path);
  });
  return paths;
}

TEST(Pytree, LeafIsALeaf) {
  const Structure tree = parse(kLeaf);
  EXPECT_TRUE(tree.is_leaf());
  EXPECT_EQ(tree.leaf_index(), 0U);
}

TEST(Pytree, BuiltinsKeepTheirKindsAndOrder) {
  const Structure tree =
      parse(node("builtins.tuple", "null",
                 {kLeaf, node("builtins.list", "null", {kLeaf, kLeaf}),
                  node("builtins.dict", R"(["b","a"])", {kLeaf, kLeaf}),
                  node("builtins.tuple", "null", {})}));
  EXPECT_EQ(tree.kind(), Kind::tuple);
  EXPECT_EQ(tree.child(1).kind(), Kind::list);
  EXPECT_EQ(tree.child(2).kind(), Kind::dict);
  EXPECT_EQ(tree.child(3).size(), 0U);
  const std::vector<std::string> paths = {"0", "1.0", "1.1", "2.b", "2.a"};
  EXPECT_EQ(leaf_paths(tree), paths);
  EXPECT_EQ(tree.find_path("2.a")->leaf_index(), 4U);
}

TEST(Pytree, CollectionsAreReadByTheirContexts) {
  const Structure ordered =
      parse(node("collections.OrderedDict", R"(["x"])", {kLeaf}));
  EXPECT_EQ(ordered.kind(), Kind::dict);
  EXPECT_EQ(ordered.class_name(), "collections.OrderedDict");
  const Structure deque = parse(node("collections.deque", "5", {kLeaf}));
  EXPECT_EQ(deque.kind(), Kind::list);
  const Structure fallback = parse(
      R"({"type":"collections.defaultdict","context":{"default_factory_module":
      "builtins","default_factory_name":"list","dict_context":["k"]},
      "children_spec":[)" +
      kLeaf + "]}");
  EXPECT_EQ(fallback.kind(), Kind::dict);
  EXPECT_TRUE(fallback.find("k")->is_leaf());
  const Structure named =
      parse(node("collections.namedtuple", "my.Point", {kLeaf, kLeaf}));
  EXPECT_EQ(named.kind(), Kind::tuple);
  EXPECT_EQ(named.class_name(), "my.Point");
}

TEST(Pytree, OtherClassesWithKeysAreObjects) {
  const Structure output =
      parse(node("transformers.modeling_outputs.BaseModelOutput",
                 R"(["last_hidden_state","hidden_states"])",
                 {kLeaf, node("builtins.tuple", "null", {kLeaf})}));
  EXPECT_EQ(output.kind(), Kind::object);
  EXPECT_EQ(output.class_name(),
            "transformers.modeling_outputs.BaseModelOutput");
  EXPECT_EQ(output.find_path("hidden_states.0")->leaf_index(), 1U);
}

TEST(Pytree, DataclassKeepsItsFieldsThatWereNone) {
  const Structure tree =
      parse(node("my.Data", R"([["a"],["b","c"]])", {kLeaf}));
  EXPECT_EQ(tree.kind(), Kind::object);
  EXPECT_EQ(tree.size(), 3U);
  EXPECT_TRUE(tree.find("c")->is_constant());
  const Structure empty = parse(node("my.Data", R"([[],["b"]])", {}));
  EXPECT_EQ(empty.size(), 1U);
}

TEST(Pytree, UnknownClassWithoutKeysIsATuple) {
  const Structure tree = parse(node("my.Pair", "\"some context\"", {kLeaf}));
  EXPECT_EQ(tree.kind(), Kind::tuple);
  EXPECT_EQ(tree.class_name(), "my.Pair");
}

TEST(Pytree, ColonOfAClassDoesNotHideItsKeys) {
  const Structure tree = parse(node("my:Pair", R"(["a","b"])", {kLeaf, kLeaf}));
  EXPECT_EQ(tree.kind(), Kind::object);
  EXPECT_EQ(tree.class_name(), "my.Pair");
  EXPECT_EQ(tree.find("b")->leaf_index(), 1U);
}

TEST(Pytree, ContextOfAnUnknownKindLeavesTheChildrenInOrder) {
  const Structure tree = parse(node("my.Odd", R"({"size":3})", {kLeaf, kLeaf}));
  EXPECT_EQ(tree.kind(), Kind::tuple);
  EXPECT_EQ(tree.leaf_count(), 2U);
}

TEST(Pytree, IntegerAndEnumKeysSurvive) {
  const Structure tree = parse(node(
      "builtins.dict",
      R"([0, "0", true, {"__enum__":true,"fqn":"m:E","name":"RED"}, null])",
      {kLeaf, kLeaf, kLeaf, kLeaf, kLeaf}));
  EXPECT_EQ(tree.key(0), Structure::Key(std::int64_t{0}));
  EXPECT_EQ(tree.key(1), Structure::Key("0"));
  EXPECT_EQ(tree.key(2), Structure::Key(std::int64_t{1}));
  EXPECT_EQ(tree.key(3), Structure::Key("RED"));
  EXPECT_EQ(tree.key(4), Structure::Key("null"));
}

TEST(Pytree, CacheIsTheTreeThatItsContextDraws) {
  const Structure tree = parse(cache(
      R"({"_t":"obj","p":"m.caches:Cache","s":{"layers":[
         {"_t":"obj","p":"m:Layer","s":{"keys":{"_t":"tensor","i":1},
          "values":{"_t":"tensor","i":0},"ready":true,"window":null,
          "size":8,"scale":0.5,"kind":"full"}}],
         "updated":{"_t":"items","v":[[0,false],[7,{"_t":"sym","i":2}]]}}})",
      3));
  EXPECT_EQ(tree.kind(), Kind::object);
  EXPECT_EQ(tree.class_name(), "m.caches.Cache");
  EXPECT_EQ(tree.find_path("layers.0")->class_name(), "m.Layer");
  EXPECT_EQ(tree.find_path("layers.0.keys")->leaf_index(), 1U);
  EXPECT_EQ(tree.find_path("layers.0.values")->leaf_index(), 0U);
  EXPECT_EQ(tree.find_path("layers.0.ready")->value(), Scalar(true));
  EXPECT_EQ(tree.find_path("layers.0.window")->value(), Scalar());
  EXPECT_EQ(tree.find_path("layers.0.size")->value(), Scalar(std::int64_t{8}));
  EXPECT_EQ(tree.find_path("layers.0.scale")->value(), Scalar(0.5));
  EXPECT_EQ(tree.find_path("layers.0.kind")->value(),
            Scalar(std::string("full")));
  EXPECT_EQ(tree.find("updated")->key(1), Structure::Key(std::int64_t{7}));
  EXPECT_EQ(tree.find_path("updated.7")->leaf_index(), 2U);
}

TEST(Pytree, EveryTagIsKeptStructurally) {
  const Structure tree = parse(cache(
      R"({"dtype":{"_t":"dtype","n":"float32"},
          "device":{"_t":"device","s":"cuda:0"},
          "layout":{"_t":"layout","n":"strided"},
          "kind":{"_t":"type","p":"m:Layer"},
          "size":{"_t":"size","v":[2,3]},
          "seq":{"_t":"seq","p":"builtins:set","v":[1]},
          "map":{"_t":"map","p":"collections:OrderedDict","v":{"a":1}},
          "later":{"_t":"quantum","q":{"_t":"tensor","i":0},"r":[1]}})",
      1));
  EXPECT_EQ(tree.kind(), Kind::dict);
  EXPECT_EQ(tree.find("dtype")->class_name(), "torch.dtype");
  EXPECT_EQ(tree.find_path("dtype.name")->value(),
            Scalar(std::string("float32")));
  EXPECT_EQ(tree.find_path("device.name")->value(),
            Scalar(std::string("cuda:0")));
  EXPECT_EQ(tree.find("layout")->class_name(), "torch.layout");
  EXPECT_EQ(tree.find_path("kind.name")->value(),
            Scalar(std::string("m.Layer")));
  EXPECT_EQ(tree.find("size")->class_name(), "torch.Size");
  EXPECT_EQ(tree.find("seq")->class_name(), "builtins.set");
  EXPECT_EQ(tree.find("map")->kind(), Kind::dict);
  EXPECT_EQ(tree.find("later")->class_name(), "quantum");
  EXPECT_EQ(tree.find_path("later.q")->leaf_index(), 0U);
}

TEST(Pytree, LeavesOfAllNodesAreNumberedThrough) {
  const Structure tree = parse(
      node("my.Out", R"(["a","cache","b"])",
           {kLeaf, cache(R"([{"_t":"tensor","i":0},{"_t":"tensor","i":1}])", 2),
            kLeaf}));
  EXPECT_EQ(tree.find_path("cache.1")->leaf_index(), 2U);
  EXPECT_EQ(tree.find("b")->leaf_index(), 3U);
}

TEST(Pytree, KeysThatDoNotMatchTheChildrenAreRefused) {
  EXPECT_EQ(refusal(node("builtins.dict", R"(["a","b"])", {kLeaf})),
            "spec.context: names 2 children, but children_spec has 1");
  EXPECT_EQ(refusal(node("my.Out", "[]", {kLeaf})),
            "spec.context: names 0 children, but children_spec has 1");
  EXPECT_EQ(refusal(node("builtins.dict", R"(["a","a"])", {kLeaf, kLeaf})),
            "spec.context: has a key twice");
}

TEST(Pytree, TensorNumbersOutOfPlaceAreRefused) {
  EXPECT_EQ(refusal(cache(R"([{"_t":"tensor","i":1}])", 1)),
            "spec.context[0].i: tensor 1 is out of range, the node has 1 "
            "children");
  EXPECT_TRUE(contains(refusal(cache(R"([{"_t":"tensor","i":-1}])", 1)),
                       "tensor -1 is out of range"));
  EXPECT_EQ(
      refusal(cache(R"([{"_t":"tensor","i":0},{"_t":"tensor","i":0}])", 1)),
      "spec.context[1].i: tensor 0 is used twice");
  EXPECT_EQ(refusal(cache(R"({"a":{"_t":"tensor","i":0}})", 2)),
            "spec.context: does not say where tensor 1 of 2 belongs");
  EXPECT_TRUE(contains(refusal(cache(R"([{"_t":"tensor","i":"0"}])", 1)),
                       "spec.context[0].i: expected a 64-bit integer"));
  EXPECT_EQ(refusal(cache(R"([{"_t":"tensor"}])", 1)),
            "spec.context[0]: a node tagged 'tensor' lacks its field 'i'");
}

TEST(Pytree, FieldsOfTheWrongTypeAreRefused) {
  EXPECT_TRUE(
      contains(refusal("3"), "spec: expected an object, got the number"));
  EXPECT_EQ(refusal("{}"), "spec: expected a node with a type, got an object");
  EXPECT_TRUE(
      contains(refusal(R"({"type":3})"), "spec.type: expected a string"));
  EXPECT_TRUE(contains(refusal(R"({"type":""})"),
                       "spec.type: expected a class name, got the string ''"));
  EXPECT_TRUE(contains(refusal(R"({"type":"builtins.list","children_spec":4})"),
                       "spec.children_spec: expected an array"));
  EXPECT_TRUE(
      contains(refusal(R"({"type":"builtins.list","children_spec":[[]]})"),
               "spec.children_spec[0]: expected an object, got an array of 0"));
  EXPECT_TRUE(contains(refusal(node("my.Out", "[\"a\"", {kLeaf})),
                       "spec.context: is not JSON"));
  EXPECT_TRUE(
      contains(refusal(R"({"type":null,"children_spec":[)" + kLeaf + "]}"),
               "spec.children_spec: expected none below a leaf"));
  EXPECT_TRUE(contains(refusal(cache(R"({"_t":5})", 0)),
                       "spec.context._t: expected a string"));
  EXPECT_TRUE(contains(refusal(cache(R"({"_t":"items","v":[[1]]})", 0)),
                       "expected pairs of a key and a value"));
  EXPECT_TRUE(contains(refusal(cache(R"({"_t":"obj","p":"m:C","s":3})", 0)),
                       "spec.context.s: expected an object"));
}

TEST(Pytree, OtherProtocolIsUnsupported) {
  EXPECT_TRUE(contains(
      error_of<Unsupported>([] { return parse_pytree("[2, {}]", "spec"); }),
      "spec: pytree spec protocol 2 is not supported"));
  EXPECT_TRUE(contains(
      error_of<InvalidArgument>([] { return parse_pytree("{}", "spec"); }),
      "spec: expected an array"));
}

TEST(Pytree, DepthAndSizeAreLimited) {
  std::string deep = kLeaf;
  for (int i = 0; i < 1000; ++i) deep = node("builtins.list", "null", {deep});
  EXPECT_TRUE(contains(refusal(deep), "is nested deeper than 128 levels"));
  const std::string context = std::string(1000, '[') + std::string(1000, ']');
  EXPECT_TRUE(contains(refusal(cache(context, 0)),
                       "spec.context: is nested deeper than 128 levels"));
  std::string wide = "[0";
  for (int i = 0; i < 300000; ++i) wide += ",0";
  EXPECT_EQ(refusal(cache(wide + "]", 0)), "spec: has more than 262144 nodes");
}

TEST(Pytree, InSpecIsTheDictOfItsKwargs) {
  const std::string kwargs =
      node("builtins.dict", R"(["ids","mask"])", {kLeaf, kLeaf});
  const Structure tree =
      parse_in_spec(spec(node("builtins.tuple", "null",
                              {node("builtins.tuple", "null", {}), kwargs})),
                    "in_spec");
  const std::vector<std::string> paths = {"ids", "mask"};
  EXPECT_EQ(leaf_paths(tree), paths);
  EXPECT_EQ(tree.find("mask")->leaf_index(), 1U);
}

TEST(Pytree, InSpecWithPositionalArgumentsIsUnsupported) {
  const std::string text = spec(node("builtins.tuple", "null",
                                     {node("builtins.tuple", "null", {kLeaf}),
                                      node("builtins.dict", "[]", {})}));
  EXPECT_EQ(
      error_of<Unsupported>([&] { return parse_in_spec(text, "in_spec"); }),
      "in_spec: has 1 positional arguments: export the model with keyword "
      "arguments only");
}

TEST(Pytree, InSpecOfAnotherShapeIsRefused) {
  for (const std::string& root :
       {kLeaf, node("builtins.tuple", "null", {kLeaf, kLeaf}),
        node("builtins.tuple", "null",
             {node("builtins.tuple", "null", {}), kLeaf})}) {
    EXPECT_TRUE(contains(error_of<InvalidArgument>([&] {
                           return parse_in_spec(spec(root), "in_spec");
                         }),
                         "in_spec: expected a tuple of an args tuple"));
  }
}

TEST(Pytree, OutConstantsTakeTheirLeavesPlaces) {
  const std::string text = spec(node("my.Out", R"(["a","none","b","flag"])",
                                     {kLeaf, kLeaf, kLeaf, kLeaf}));
  const Structure tree =
      parse_out_spec(text, {{1, Scalar()}, {3, true}}, "out_spec");
  EXPECT_EQ(tree.find("none")->value(), Scalar());
  EXPECT_EQ(tree.find("flag")->value(), Scalar(true));
  EXPECT_EQ(tree.find("a")->leaf_index(), 0U);
  EXPECT_EQ(tree.find("b")->leaf_index(), 1U);
}

TEST(Pytree, OutConstantsOutOfPlaceAreRefused) {
  const std::string text = spec(node("my.Out", R"(["a"])", {kLeaf}));
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              return parse_out_spec(text, {{1, Scalar()}}, "out_spec");
            }),
            "out_spec: has 1 leaves, but out_constants gives a value for leaf "
            "1");
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              return parse_out_spec(text, {{0, Scalar()}, {0, true}},
                                    "out_spec");
            }),
            "out_spec: out_constants gives leaf 0 two values");
}

}  // namespace
}  // namespace modelrun
