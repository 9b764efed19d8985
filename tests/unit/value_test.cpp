// SPDX-License-Identifier: Apache-2.0
#include "modelrun/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "modelrun/error.h"
#include "support/artifact/error_of.h"

namespace modelrun {
namespace {

using testing::error_of;

Tensor ints(std::int64_t value) { return Tensor::scalar(value); }

std::int64_t int_of(const Value& value) {
  return value.tensor().item<std::int64_t>();
}

Value layer(std::int64_t first) {
  return Value::mapping({{"keys", ints(first)}, {"values", ints(first + 1)}},
                        "cache.Layer");
}

/// The output of a decoder with a cache of two layers.
Value decoder_output() {
  return Value::mapping(
      {{"logits", ints(0)},
       {"past_key_values",
        Value::mapping({{"layers", Value::sequence({layer(1), layer(3)})},
                        {"is_sliding", false}},
                       "cache.DynamicCache")},
       {"attentions", Value()}},
      "outputs.ModelOutput");
}

TEST(Value, IsNoneByDefault) {
  const Value value;
  EXPECT_TRUE(value.is_none());
  EXPECT_TRUE(value.is_scalar());
  EXPECT_FALSE(value.is_tensor());
  EXPECT_FALSE(value.is_nested());
  EXPECT_EQ(value.kind(), Structure::Kind::constant);
  EXPECT_EQ(value.class_name(), "");
  EXPECT_EQ(value.size(), 0u);
  EXPECT_EQ(value.structure(), nullptr);
  EXPECT_TRUE(value.slots().empty());
  EXPECT_TRUE(value.leaves().empty());
  EXPECT_EQ(to_string(value), "None");
}

TEST(ValueConversion, EachTypeBecomesItsOwnScalar) {
  const auto scalar = [](const Value& value) { return value.scalar(); };
  EXPECT_EQ(scalar(true), Scalar(true));
  EXPECT_EQ(scalar(false), Scalar(false));
  EXPECT_EQ(scalar(1), Scalar(std::int64_t{1}));
  EXPECT_EQ(scalar(-1L), Scalar(std::int64_t{-1}));
  EXPECT_EQ(scalar(1u), Scalar(std::int64_t{1}));
  EXPECT_EQ(scalar(std::uint8_t{200}), Scalar(std::int64_t{200}));
  EXPECT_EQ(scalar(1.5), Scalar(1.5));
  EXPECT_EQ(scalar(1.5f), Scalar(1.5));
  EXPECT_EQ(scalar("text"), Scalar("text"));
  EXPECT_EQ(scalar(std::string("text")), Scalar("text"));
  EXPECT_EQ(scalar(std::string_view("text")), Scalar("text"));
  EXPECT_EQ(scalar(Scalar(2.0)), Scalar(2.0));
}

TEST(ValueConversion, PointersAreNotBools) {
  EXPECT_FALSE((std::is_convertible_v<int*, Value>));
  EXPECT_FALSE((std::is_convertible_v<void*, Value>));
  const char* const text = "cpu";
  EXPECT_EQ(Value(text).as<std::string>(), "cpu");
}

TEST(ValueConversion, IntegersPastTheSignedRangeAreRefused) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Value(static_cast<std::uint64_t>(kMax)).as<std::int64_t>(), kMax);
  EXPECT_EQ(Value(std::numeric_limits<std::int64_t>::min()).as<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(error_of<InvalidArgument>(
                [] { return Value(static_cast<std::uint64_t>(kMax) + 1); }),
            "an integer past 2^63 - 1 has no value type");
}

TEST(ValueAs, ReadsTheScalarsOwnType) {
  EXPECT_TRUE(Value(true).as<bool>());
  EXPECT_EQ(Value(3).as<std::int64_t>(), 3);
  EXPECT_EQ(Value(1.5).as<double>(), 1.5);
  EXPECT_EQ(Value(3).as<double>(), 3.0);
  EXPECT_EQ(Value("x").as<std::string>(), "x");
}

TEST(ValueAs, AnotherTypeIsRefused) {
  EXPECT_EQ(error_of<InvalidArgument>([] { return Value(1).as<bool>(); }),
            "expected a bool, got 1");
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return Value(true).as<std::int64_t>(); }),
      "expected an int, got True");
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return Value(1.0).as<std::int64_t>(); }),
      "expected an int, got 1.0");
  EXPECT_EQ(error_of<InvalidArgument>([] { return Value(true).as<double>(); }),
            "expected a float, got True");
  EXPECT_EQ(error_of<InvalidArgument>([] { return Value().as<std::string>(); }),
            "expected a string, got None");
  EXPECT_EQ(
      error_of<InvalidArgument>([] { return Value(ints(1)).as<double>(); }),
      "expected a scalar, got a tensor");
  EXPECT_EQ(error_of<InvalidArgument>([] { return decoder_output().scalar(); }),
            "expected a scalar, got outputs.ModelOutput");
}

TEST(ValueTensor, IsTheTensorOrRefused) {
  const Tensor tensor = ints(5);
  const Value value = tensor;
  EXPECT_TRUE(value.is_tensor());
  EXPECT_EQ(value.kind(), Structure::Kind::leaf);
  EXPECT_EQ(value.tensor().raw_data(), tensor.raw_data());
  EXPECT_EQ(to_string(value), "int64[] on cpu");
  EXPECT_EQ(error_of<InvalidArgument>([] { return Value().tensor(); }),
            "expected a tensor, got None");
  EXPECT_EQ(error_of<InvalidArgument>([] { return Value(1).tensor(); }),
            "expected a tensor, got a scalar");
  EXPECT_EQ(error_of<InvalidArgument>([] { return decoder_output().tensor(); }),
            "expected a tensor, got outputs.ModelOutput");
}

TEST(ValueNested, IsReadByKeyPathAndIndex) {
  const Value output = decoder_output();
  EXPECT_TRUE(output.is_nested());
  EXPECT_EQ(output.kind(), Structure::Kind::dict);
  EXPECT_EQ(output.class_name(), "outputs.ModelOutput");
  EXPECT_EQ(output.size(), 3u);
  EXPECT_EQ(output.keys(), (std::vector<std::string>{
                               "logits", "past_key_values", "attentions"}));
  EXPECT_EQ(int_of(output["logits"]), 0);
  EXPECT_EQ(int_of(output[0]), 0);
  EXPECT_TRUE(output["attentions"].is_none());
  EXPECT_TRUE(output[std::size_t{2}].is_none());
  EXPECT_EQ(int_of(output.at("past_key_values.layers.1.keys")), 3);
  EXPECT_EQ(int_of(output["past_key_values"]["layers"][1]["values"]), 4);
  EXPECT_FALSE(output["past_key_values.is_sliding"].as<bool>());
  const Value layers = output["past_key_values"]["layers"];
  EXPECT_EQ(layers.kind(), Structure::Kind::list);
  EXPECT_EQ(layers.class_name(), "builtins.list");
  EXPECT_EQ(layers.keys(), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(layers["1"].class_name(), "cache.Layer");
}

TEST(ValueNested, ContainsWhatAtFinds) {
  const Value output = decoder_output();
  EXPECT_TRUE(output.contains("attentions"));
  EXPECT_TRUE(output.contains("past_key_values.layers.0"));
  EXPECT_FALSE(output.contains("past_key_values.layers.2"));
  EXPECT_FALSE(output.contains(""));
  EXPECT_FALSE(Value(ints(1)).contains("0"));
  EXPECT_FALSE(Value().contains(""));
}

TEST(ValueNested, AMissingKeyNamesTheNearest) {
  const Value output = decoder_output();
  EXPECT_EQ(error_of<NotFound>([&] { return output["logit"]; }),
            "no 'logit' in outputs.ModelOutput, did you mean 'logits'? (it has "
            "'logits', 'past_key_values', 'attentions')");
  EXPECT_EQ(error_of<NotFound>([&] { return output.at("hidden_states"); }),
            "no 'hidden_states' in outputs.ModelOutput (it has 'logits', "
            "'past_key_values', 'attentions')");
}

TEST(ValueNested, AMissingPathSaysWhichPartIsMissing) {
  const Value output = decoder_output();
  EXPECT_EQ(
      error_of<NotFound>(
          [&] { return output["past_key_values.layers.0.key"]; }),
      "no 'past_key_values.layers.0.key' in outputs.ModelOutput: "
      "'past_key_values.layers.0' has no 'key', did you mean 'keys'? (it has "
      "'keys', 'values')");
  EXPECT_EQ(error_of<NotFound>(
                [&] { return output["past_key_values.layers.2.keys"]; }),
            "no 'past_key_values.layers.2.keys' in outputs.ModelOutput: "
            "'past_key_values.layers' has no '2.keys' (it has '0', '1')");
  EXPECT_EQ(error_of<NotFound>([&] { return output["logits.0"]; }),
            "no 'logits.0' in outputs.ModelOutput, did you mean 'logits'? (it "
            "has 'logits', 'past_key_values', 'attentions')");
}

TEST(ValueNested, EndsHaveNothingBelow) {
  EXPECT_EQ(error_of<NotFound>([] { return Value(ints(1))["x"]; }),
            "no 'x' in a tensor");
  EXPECT_EQ(error_of<NotFound>([] { return Value()["x"]; }), "no 'x' in None");
  EXPECT_EQ(error_of<NotFound>([] { return Value(2)["x"]; }),
            "no 'x' in a scalar");
  EXPECT_EQ(error_of<NotFound>([] { return Value::mapping({})["x"]; }),
            "no 'x' in builtins.dict");
}

TEST(ValueNested, AnItemPastTheEndIsRefused) {
  const Value output = decoder_output();
  EXPECT_EQ(error_of<NotFound>([&] { return output[3]; }),
            "no item 3 in outputs.ModelOutput of 3");
  EXPECT_EQ(error_of<NotFound>([&] { return output[-1]; }),
            "no item -1 in outputs.ModelOutput of 3");
  EXPECT_EQ(error_of<NotFound>([] { return Value(ints(1))[0]; }),
            "no item 0 in a tensor of 0");
}

TEST(ValueNested, IsIteratedInOrder) {
  std::vector<std::int64_t> keys;
  for (const Value item : decoder_output()["past_key_values.layers"]) {
    keys.push_back(int_of(item["keys"]));
  }
  EXPECT_EQ(keys, (std::vector<std::int64_t>{1, 3}));
  const Value tensor = ints(1);
  EXPECT_TRUE(tensor.begin() == tensor.end());
}

TEST(ValueNested, LeavesAreEveryTensorWithItsPath) {
  const Value output = decoder_output();
  std::vector<std::pair<std::string, std::int64_t>> leaves;
  for (const auto& [path, tensor] : output.leaves()) {
    leaves.emplace_back(path, tensor.item<std::int64_t>());
    EXPECT_EQ(output.at(path).tensor().raw_data(), tensor.raw_data());
  }
  EXPECT_EQ(leaves, (std::vector<std::pair<std::string, std::int64_t>>{
                        {"logits", 0},
                        {"past_key_values.layers.0.keys", 1},
                        {"past_key_values.layers.0.values", 2},
                        {"past_key_values.layers.1.keys", 3},
                        {"past_key_values.layers.1.values", 4}}));
  // Below a sub-value, the paths begin there.
  EXPECT_EQ(output["past_key_values.layers.1"].leaves()[1].first, "values");
  const auto single = Value(ints(7)).leaves();
  ASSERT_EQ(single.size(), 1u);
  EXPECT_EQ(single[0].first, "");
}

TEST(ValueNested, IsDrawnForPeople) {
  EXPECT_EQ(to_string(decoder_output()),
            "ModelOutput\n"
            "├── logits: int64[] on cpu\n"
            "├── past_key_values: DynamicCache\n"
            "│   ├── layers: list\n"
            "│   │   ├── 0: Layer\n"
            "│   │   │   ├── keys: int64[] on cpu\n"
            "│   │   │   └── values: int64[] on cpu\n"
            "│   │   └── 1: Layer\n"
            "│   │       ├── keys: int64[] on cpu\n"
            "│   │       └── values: int64[] on cpu\n"
            "│   └── is_sliding: False\n"
            "└── attentions: None");
  EXPECT_EQ(to_string(Value::sequence({})), "list");
}

TEST(ValueComposing, TakesSubValuesOfOthersWithTheirTensors) {
  const Value output = decoder_output();
  const Value layers = output["past_key_values.layers"];
  const Value swapped = Value::mapping(
      {{"layers", Value::sequence({layers[1], layers[0]}, "builtins.tuple")},
       {"again", layers[1]},
       {"scale", 0.5}},
      "cache.Other");
  EXPECT_EQ(swapped["layers"].class_name(), "builtins.tuple");
  EXPECT_EQ(swapped["layers.0"].class_name(), "cache.Layer");
  EXPECT_EQ(int_of(swapped["layers.0.keys"]), 3);
  EXPECT_EQ(int_of(swapped["layers.1.values"]), 2);
  EXPECT_EQ(swapped["scale"].as<double>(), 0.5);
  EXPECT_EQ(swapped["again.keys"].tensor().raw_data(),
            layers["1.keys"].tensor().raw_data());
  // Only the tensors that it uses: none of the logits.
  EXPECT_EQ(swapped.slots().size(), 6u);
}

TEST(ValueComposing, KeepsEveryKindOfStructure) {
  std::vector<Structure> items;
  items.push_back(Structure::leaf(1));
  items.push_back(Structure::leaf(0));
  std::vector<Structure::Entry> entries;
  entries.push_back({std::int64_t{0}, Structure::constant(true)});
  std::vector<Structure::Entry> attributes;
  attributes.push_back({"pair", Structure::tuple(std::move(items), "my.Pair")});
  attributes.push_back({"updated", Structure::dict(std::move(entries))});
  const Value object(std::make_shared<const Structure>(
                         Structure::object("my.Object", std::move(attributes))),
                     {ints(10), ints(11)});
  const Value copy = Value::sequence({object})[0];
  // Leaves are renumbered in the tree's order, all else is kept.
  EXPECT_EQ(copy.kind(), Structure::Kind::object);
  EXPECT_EQ(copy.class_name(), "my.Object");
  EXPECT_EQ(copy["pair"].kind(), Structure::Kind::tuple);
  EXPECT_EQ(copy["pair"].class_name(), "my.Pair");
  EXPECT_EQ(int_of(copy["pair.0"]), 11);
  EXPECT_EQ(int_of(copy["pair.1"]), 10);
  EXPECT_EQ(copy["updated"].structure()->key(0),
            Structure::Key(std::int64_t{0}));
  EXPECT_TRUE(copy["updated.0"].as<bool>());
}

TEST(ValueOfStructure, IsItsRootWhateverThatIs) {
  const auto shared = [](Structure structure) {
    return std::make_shared<const Structure>(std::move(structure));
  };
  EXPECT_EQ(int_of(Value(shared(Structure::leaf(1)), {ints(1), ints(2)})), 2);
  EXPECT_TRUE(Value(shared(Structure::constant({})), {}).is_none());
  EXPECT_EQ(Value(shared(Structure::tuple({})), {}).size(), 0u);
}

TEST(ValueOfStructure, ATensorForEverySlotIsNeeded) {
  const auto with_slot = [](std::size_t slot) {
    std::vector<Structure> items;
    items.push_back(Structure::leaf(slot));
    items.push_back(Structure::leaf(0));
    return Value(
        std::make_shared<const Structure>(Structure::list(std::move(items))),
        {ints(1), ints(2)});
  };
  EXPECT_EQ(int_of(with_slot(1)[0]), 2);
  EXPECT_EQ(error_of<InvalidArgument>([&] { return with_slot(2); }),
            "a structure with a leaf in slot 2 was given 2 tensors");
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              return with_slot(std::numeric_limits<std::size_t>::max());
            }),
            "a structure with a leaf in slot 18446744073709551615 was given 2 "
            "tensors");
  EXPECT_EQ(error_of<InvalidArgument>([] { return Value(nullptr, {}); }),
            "a value needs a structure");
}

TEST(ValueLifetime, ASubValueKeepsEverythingAlive) {
  auto memory = std::make_shared<std::int64_t>(42);
  const std::weak_ptr<std::int64_t> alive = memory;
  std::int64_t* const address = memory.get();
  Value inner;
  {
    const Value outputs = Value::mapping(
        {{"cache",
          Value::sequence({Tensor::view(address, {.dtype = DType::int64},
                                        std::move(memory))})}});
    inner = outputs["cache"];
  }
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(int_of(inner[0]), 42);
  const Tensor tensor = inner[0].tensor();
  inner = {};
  EXPECT_EQ(tensor.item<std::int64_t>(), 42);
  EXPECT_FALSE(alive.expired());
}

TEST(ValueLifetime, TheLastHandleFreesTheTensors) {
  auto memory = std::make_shared<std::int64_t>(42);
  const std::weak_ptr<std::int64_t> alive = memory;
  std::int64_t* const address = memory.get();
  Value value = Value::sequence({Value::sequence(
      {Tensor::view(address, {.dtype = DType::int64}, std::move(memory))})});
  Value copy = value;
  Value child = copy[0];
  value = {};
  copy = child;
  EXPECT_FALSE(alive.expired());
  copy = 1;
  EXPECT_FALSE(alive.expired());
  child = {};
  EXPECT_TRUE(alive.expired());
}

TEST(ValueLifetime, CopiesShareTheirTensors) {
  const Value value = decoder_output();
  const Value copy = value;
  EXPECT_EQ(copy.slots().data(), value.slots().data());
  EXPECT_EQ(copy.structure(), value.structure());
  EXPECT_EQ(value["past_key_values"].slots().data(), value.slots().data());
}

TEST(Kwargs, AreAViewOfTheCallersArray) {
  const std::vector<Kwarg> array{{"input_ids", ints(1)}, {"use_cache", true}};
  const Kwargs kwargs(array);
  ASSERT_EQ(kwargs.size(), 2u);
  EXPECT_EQ(&kwargs[0], array.data());
  EXPECT_EQ(kwargs[1].name, "use_cache");
  EXPECT_EQ(kwargs.end() - kwargs.begin(), 2);
  EXPECT_EQ(Kwargs().size(), 0u);
  const auto count = [](const Kwargs& given) { return given.size(); };
  EXPECT_EQ(count({{"a", 1}, {"b", "text"}, {"c", Value()}}), 3u);
  EXPECT_EQ(count({}), 0u);
}

}  // namespace
}  // namespace modelrun
