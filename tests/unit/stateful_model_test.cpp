// SPDX-License-Identifier: Apache-2.0
// Programs that keep a cache in their state, and programs whose ports have
// positions for names.
#include <gtest/gtest.h>

#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "support/fake_export.h"

namespace modelrun::testing {
namespace {

using Json = nlohmann::ordered_json;

Json cache_spec() {
  const Json context = Json::parse(
      R"({"_t":"obj","p":"transformers.cache_utils:DynamicCache","s":
          {"keys":{"_t":"tensor","i":0}}})");
  return Spec::node("transformers.cache_utils:DynamicCache", context,
                    {Spec::leaf()});
}

// Appends its input to a cache that the stateless program would take and
// return.
FakeExport stateful_export() {
  FakeProgram program;
  program
      .input({.name = "x",
              .dtype = "int64",
              .dims = {1, -1},
              .symbols = {"", "length"}})
      .echo({.name = "logits", .dtype = "int64", .dims = {1, -1}}, "x")
      .growing_state(
          {.name = "past_key_values.keys", .dtype = "int64", .dims = {1, -1}},
          "x", 1);
  FakeExport fake;
  fake.add("model", program,
           {{"kwargs",
             {{"x", recorded({1, 3}, "int64")},
              {"past_key_values", {{"container", "DynamicCache"}}}}},
            {"in_spec", Spec::inputs({{"x", Spec::leaf()},
                                      {"past_key_values", cache_spec()}})},
            {"out_spec",
             Spec::text(Spec::node("m.Output", {"logits", "past_key_values"},
                                   {Spec::leaf(), cache_spec()}))}});
  return fake;
}

Tensor row(std::initializer_list<std::int64_t> values) {
  return Tensor::from(values, {1, static_cast<std::int64_t>(values.size())});
}

TEST(StatefulModel, CacheGoesInAndOutAsTheStatelessExportsValue) {
  const auto fake = stateful_export();
  const auto model = fake.load();
  const Outputs prefill = model({{"x", row({1, 2})}});
  const Value cache = prefill["past_key_values"];
  EXPECT_EQ(cache.class_name(), "transformers.cache_utils.DynamicCache");
  EXPECT_TRUE(equal(cache["keys"].tensor(), row({1, 2})));
  const Outputs decode = model({{"x", row({3})}, {"past_key_values", cache}});
  EXPECT_TRUE(equal(decode["past_key_values.keys"].tensor(), row({1, 2, 3})));
  EXPECT_TRUE(equal(cache["keys"].tensor(), row({1, 2})));
}

TEST(StatefulModel, CallWithoutACacheStartsANewSequence) {
  const auto fake = stateful_export();
  const auto model = fake.load();
  model({{"x", row({1, 2})}});
  const Outputs again = model({{"x", row({7})}});
  EXPECT_TRUE(equal(again["past_key_values.keys"].tensor(), row({7})));
}

TEST(StatefulModel, BoundCallStartsEachRunFromTheGivenCache) {
  const auto fake = stateful_export();
  const auto model = fake.load();
  const Value cache = model({{"x", row({1})}})["past_key_values"];
  BoundCall bound = model.bind({{"x", row({5})}, {"past_key_values", cache}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(equal(bound()["past_key_values.keys"].tensor(), row({1, 5})));
  }
}

TEST(StatefulModel, CacheOfAnotherDtypeIsRefused) {
  const auto fake = stateful_export();
  const Value cache =
      Value::mapping({{"keys", Tensor::zeros(DType::float32, {1, 2})}});
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              fake.load()({{"x", row({1})}, {"past_key_values", cache}});
            }),
            "input 'past_key_values.keys' has the wrong dtype: expected "
            "int64[1, ?], got float32[1, 2]: convert it before the call");
}

// A cache that keeps its batch size, which the program computes.
FakeExport counting_export(const std::string& tag) {
  const Json context = Json::parse(
      R"({"_t":"obj","p":"transformers.cache_utils:StaticLayer","s":
          {"keys":{"_t":"tensor","i":0},"batch_size":{"_t":")" +
      tag + R"(","i":1}}})");
  const auto cache = [&] {
    return Spec::node("transformers.cache_utils:StaticLayer", context,
                      {Spec::leaf(), Spec::leaf()});
  };
  FakeProgram program;
  program.input({.name = "x", .dtype = "int64", .dims = {1, 2}})
      .echo({.name = "keys", .dtype = "int64", .dims = {1, 2}}, "x")
      .values({.name = "batch_size", .dtype = "int64", .dims = {}}, {3});
  FakeExport fake;
  fake.add(
      "model", program,
      {{"kwargs",
        {{"x", recorded({1, 2}, "int64")},
         {"cache", {{"container", "StaticLayer"}}}}},
       {"in_spec", Spec::inputs({{"x", Spec::leaf()}})},
       {"out_spec", Spec::text(Spec::node("m.Output", {"cache"}, {cache()}))}});
  return fake;
}

TEST(NumberOutput, SymbolOfTheTraceIsAnInteger) {
  const auto fake = counting_export("sym");
  const auto model = fake.load();
  for (const bool share : {false, true}) {
    const Outputs outputs =
        model({{"x", row({1, 2})}}, {.share_outputs = share});
    const Value size = outputs["cache.batch_size"];
    ASSERT_TRUE(size.is_scalar());
    EXPECT_EQ(size.as<std::int64_t>(), 3);
    EXPECT_EQ(outputs["cache"]["batch_size"].kind(), Structure::Kind::constant);
    // It is no tensor to those who ask for them.
    ASSERT_EQ(outputs.leaves().size(), 1U);
    EXPECT_EQ(outputs.leaves()[0].first, "cache.keys");
  }
  BoundCall bound = model.bind({{"x", row({1, 2})}});
  EXPECT_EQ(bound()["cache.batch_size"].as<std::int64_t>(), 3);
}

TEST(NumberOutput, KeepsItsValueInANewNest) {
  const auto fake = counting_export("sym");
  const Value cache = fake.load()({{"x", row({1, 2})}})["cache"];
  const Value nest = Value::mapping({{"cache", cache}});
  EXPECT_EQ(nest["cache.batch_size"].as<std::int64_t>(), 3);
  EXPECT_EQ(nest.slots().size(), 1U);
}

TEST(NumberOutput, TensorOfTheTraceStaysOne) {
  const auto fake = counting_export("tensor");
  const Outputs outputs = fake.load()({{"x", row({1, 2})}});
  EXPECT_TRUE(outputs["cache.batch_size"].is_tensor());
}

TEST(NumberOutput, ProgramsOwnNumberNeedsNoRecord) {
  FakeProgram program;
  program.input({.name = "x", .dtype = "int64", .dims = {1, 2}})
      .values({.name = "#0", .dtype = "int64", .dims = {}, .number = true}, {7})
      .values({.name = "#1", .dtype = "float64", .dims = {}, .number = true},
              {0.5})
      .values({.name = "#2", .dtype = "bool", .dims = {}, .number = true}, {1});
  FakeExport fake;
  fake.add("model", program,
           {{"out_spec", Spec::text(Spec::node(
                             "builtins.tuple", nullptr,
                             {Spec::leaf(), Spec::leaf(), Spec::leaf()}))}});
  const Outputs outputs = fake.load()({{"x", row({1, 2})}});
  EXPECT_EQ(outputs[0].as<std::int64_t>(), 7);
  EXPECT_EQ(outputs[1].as<double>(), 0.5);
  EXPECT_TRUE(outputs[2].as<bool>());
}

// A program may have been exported so that it computes what was recorded as a
// symbol in another shape; then the tensor is all that is known.
TEST(NumberOutput, SymbolThatIsATensorOfSomeRankStaysATensor) {
  FakeProgram program;
  program.input({.name = "x", .dtype = "int64", .dims = {1, 2}})
      .echo({.name = "y", .dtype = "int64", .dims = {1, 2}}, "x");
  const Json context =
      Json::parse(R"({"_t":"obj","p":"m:C","s":{"n":{"_t":"sym","i":0}}})");
  FakeExport fake;
  fake.add(
      "model", program,
      {{"out_spec", Spec::text(Spec::node("m:C", context, {Spec::leaf()}))}});
  EXPECT_TRUE(fake.load()({{"x", row({1, 2})}})["n"].is_tensor());
}

TEST(PositionalModel, PortsAreMatchedByTheirPlacesInTheSpec) {
  FakeProgram program;
  program.input({.name = "#1", .dtype = "int64", .dims = {1, -1}})
      .input({.name = "#3", .dtype = "int64", .dims = {1, -1}})
      .echo({.name = "#0", .dtype = "int64", .dims = {1, -1}}, "#3")
      .options({"in_constants"});
  FakeExport fake;
  fake.add("model", program,
           {{"in_spec", Spec::inputs({{"scale", Spec::leaf()},
                                      {"first", Spec::leaf()},
                                      {"mode", Spec::leaf()},
                                      {"second", Spec::leaf()}})},
            {"in_constants", {{"scale", 2}, {"mode", "add"}}},
            {"out_spec", Spec::text(Spec::node("builtins.tuple", nullptr,
                                               {Spec::leaf()}))}});
  const auto model = fake.load();
  const Outputs outputs = model({{"second", row({4})}, {"first", row({9})}});
  EXPECT_TRUE(equal(outputs[0].tensor(), row({4})));
  EXPECT_EQ(error_of<InvalidArgument>([&] { model({{"first", row({1})}}); }),
            "missing inputs: expected 'second' int64[1, ?]; got 'first'");
}

TEST(PositionalModel, PositionPastTheSpecIsRefusedAtLoad) {
  FakeProgram program;
  program.input({.name = "#1", .dtype = "int64", .dims = {1}});
  FakeExport fake;
  fake.add("model", program,
           {{"in_spec", Spec::inputs({{"x", Spec::leaf()}})}});
  EXPECT_EQ(error_of<InvalidArgument>([&] { (void)fake.load(); }),
            "the program has an input at position 1, but export.json records "
            "1 input leaves: program and manifest are not of one export");
}

}  // namespace
}  // namespace modelrun::testing
