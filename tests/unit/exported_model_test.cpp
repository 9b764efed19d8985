// SPDX-License-Identifier: Apache-2.0
#include "modelrun/exported_model.h"

#include <gtest/gtest.h>

#include <vector>

#include "modelrun/error.h"
#include "modelrun/log.h"
#include "support/allocation_count.h"
#include "support/fake_export.h"

namespace modelrun::testing {
namespace {

using Json = nlohmann::ordered_json;

// BERT's signature: ids and mask share one symbol only, and their shapes were
// recorded alike.
FakeProgram bert_program() {
  FakeProgram program;
  program
      .input({.name = "input_ids",
              .dtype = "int64",
              .dims = {-1, -1},
              .symbols = {"s72", "s53"}})
      .input({.name = "attention_mask",
              .dtype = "int64",
              .dims = {-1, -1},
              .symbols = {"s43", "s53"}})
      .sum({.name = "last_hidden_state",
            .dtype = "int64",
            .dims = {-1, -1},
            .symbols = {"s72", "s53"}},
           "input_ids", "attention_mask");
  return program;
}

Json bert_metadata() {
  return {{"export_dtype", "float32"},
          {"kwargs",
           {{"input_ids", recorded({2, 8}, "int64")},
            {"attention_mask", recorded({2, 8}, "int64")}}},
          {"in_spec", Spec::inputs({{"input_ids", Spec::leaf()},
                                    {"attention_mask", Spec::leaf()}})},
          {"out_spec",
           Spec::text(Spec::node("transformers.modeling_outputs.BaseOutput",
                                 {"last_hidden_state"}, {Spec::leaf()}))}};
}

FakeExport bert() {
  FakeExport fake;
  fake.add("model", bert_program(), bert_metadata());
  return fake;
}

Tensor int64s(Shape shape, std::int64_t value = 1) {
  Tensor tensor = Tensor::empty(DType::int64, std::move(shape));
  for (std::int64_t& element : tensor.data<std::int64_t>()) element = value;
  return tensor;
}

template <typename E = InvalidArgument>
std::string call_error(const ExportedModel& model, Kwargs kwargs) {
  return error_of<E>([&] { model(kwargs); });
}

TEST(ExportedModel, CallReturnsTheRecordedStructure) {
  const auto fake = bert();
  const auto model = fake.load();
  const Outputs outputs = model(
      {{"input_ids", int64s({2, 3}, 5)}, {"attention_mask", int64s({2, 3})}});
  EXPECT_EQ(outputs.class_name(), "transformers.modeling_outputs.BaseOutput");
  const Tensor hidden = outputs["last_hidden_state"].tensor();
  EXPECT_EQ(hidden.shape(), (Shape{2, 3}));
  EXPECT_EQ(hidden.data<std::int64_t>()[5], 6);
}

TEST(ExportedModel, UnknownKwargIsDroppedWithOneWarning) {
  const auto fake = bert();
  const auto model = fake.load();
  std::vector<std::string> lines;
  set_log_callback(
      [&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  for (int i = 0; i < 3; ++i) {
    model({{"input_ids", int64s({2, 3})},
           {"attention_mask", int64s({2, 3})},
           {"token_type_ids", int64s({2, 3})}});
  }
  set_log_callback({});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0],
            "component 'model' drops kwargs that the export was not traced "
            "with: 'token_type_ids'");
}

TEST(ExportedModel, MissingInputsAreAllNamedWithTheNearestGiven) {
  const auto fake = bert();
  EXPECT_EQ(call_error(fake.load(), {{"inputs_ids", int64s({2, 3})}}),
            "missing inputs: expected 'input_ids' int64[s72, s53], "
            "'attention_mask' int64[s43, s53]; got 'inputs_ids' (did you mean "
            "'input_ids'?)");
  EXPECT_EQ(call_error(fake.load(), {}),
            "missing inputs: expected 'input_ids' int64[s72, s53], "
            "'attention_mask' int64[s43, s53]; got nothing");
}

TEST(ExportedModel, NoneIsAKwargThatIsNotGiven) {
  const auto fake = bert();
  EXPECT_EQ(call_error(fake.load(), {{"input_ids", int64s({2, 3})},
                                     {"attention_mask", Value()}}),
            "missing inputs: expected 'attention_mask' int64[s43, s53]; got "
            "'input_ids', 'attention_mask'");
}

TEST(ExportedModel, WrongDtypeIsRefused) {
  const auto fake = bert();
  EXPECT_EQ(
      call_error(fake.load(),
                 {{"input_ids", Tensor::zeros(DType::float32, {2, 3})},
                  {"attention_mask", int64s({2, 3})}}),
      "input 'input_ids' has the wrong dtype: expected int64[s72, s53], got "
      "float32[2, 3]: convert it before the call");
}

TEST(ExportedModel, IntegersConvertWhenEveryValueIsKept) {
  FakeProgram program;
  program.input({.name = "x", .dtype = "int32", .dims = {-1}})
      .echo({.name = "y", .dtype = "int32", .dims = {-1}}, "x");
  FakeExport fake;
  fake.add("model", program);
  const auto model = fake.load();
  const auto y = model({{"x", Tensor::from<std::int64_t>({1, -7}, {2})}})["y"];
  EXPECT_TRUE(equal(y.tensor(), Tensor::from<std::int32_t>({1, -7}, {2})));
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(
      call_error(model, {{"x", Tensor::from<std::int64_t>({1, large}, {2})}}),
      "input 'x' holds 1099511627776 at element 1, which does not fit "
      "int32");
  EXPECT_EQ(call_error(model, {{"x", Tensor::from<bool>({true}, {1})}}),
            "input 'x' has the wrong dtype: expected int32[?], got bool[1]: "
            "convert it before the call");
}

TEST(ExportedModel, WrongRankIsRefused) {
  const auto fake = bert();
  const auto model = fake.load();
  for (const Shape& shape : {Shape{7}, Shape{1, 1, 7}}) {
    EXPECT_EQ(call_error(model, {{"input_ids", int64s(shape)},
                                 {"attention_mask", int64s(shape)}}),
              "input 'input_ids' has the wrong rank: expected int64[s72, "
              "s53], got shape " +
                  to_string(shape));
  }
}

TEST(ExportedModel, FixedSizeIsRefusedWithItsAxis) {
  FakeProgram program;
  program.input({.name = "x", .dims = {2, 8}})
      .echo({.name = "y", .dims = {2, 8}}, "x");
  FakeExport fake;
  fake.add("model", program);
  EXPECT_EQ(
      call_error(fake.load(), {{"x", Tensor::zeros(DType::float32, {2, 9})}}),
      "input 'x' has the wrong shape: expected float32[2, 8], got [2, 9] "
      "(axis 1 is fixed to 8 in this export)");
}

TEST(ExportedModel, SymbolsMustAgreeAcrossInputs) {
  const auto fake = bert();
  EXPECT_EQ(call_error(fake.load(), {{"input_ids", int64s({2, 8})},
                                     {"attention_mask", int64s({2, 9})}}),
            "input 'attention_mask' has the wrong shape: expected int64[s43, "
            "s53], got [2, 9] (axis 1 must be 8, as in 'input_ids')");
}

TEST(ExportedModel, KwargsRecordedAlikeMustAgreeUnlessTurnedOff) {
  const auto fake = bert();
  const std::vector<Kwarg> kwargs{{"input_ids", int64s({2, 8})},
                                  {"attention_mask", int64s({1, 8})}};
  EXPECT_EQ(call_error(fake.load(), kwargs),
            "inputs 'input_ids' of shape [2, 8] and 'attention_mask' of shape "
            "[1, 8] must have the same shape: the model was traced with one "
            "shape for both (check_recorded_shapes = false turns this check "
            "off)");
  EXPECT_EQ(call_error<BackendError>(
                fake.load({.check_recorded_shapes = false}), kwargs)
                .substr(0, 32),
            "component 'model' failed in fake");
}

TEST(ExportedModel, ExpressionsBindAndCheckSymbols) {
  FakeProgram program;
  program.input({.name = "past", .dims = {-1}, .symbols = {"s36"}})
      .input({.name = "mask", .dims = {-1}, .symbols = {"s36 + 1"}})
      .input({.name = "only", .dims = {-1}, .symbols = {"2*s7"}})
      .input({.name = "later", .dims = {-1}, .symbols = {"s7 + s36"}})
      .echo({.name = "y", .dims = {-1}, .symbols = {"s36"}}, "past");
  FakeExport fake;
  fake.add("model", program);
  const auto model = fake.load();
  const auto floats = [](std::int64_t n) {
    return Tensor::zeros(DType::float32, {n});
  };
  EXPECT_NO_THROW(model({{"past", floats(3)},
                         {"mask", floats(4)},
                         {"only", floats(10)},
                         {"later", floats(8)}}));
  EXPECT_EQ(call_error(model, {{"past", floats(3)},
                               {"mask", floats(5)},
                               {"only", floats(10)},
                               {"later", floats(8)}}),
            "input 'mask' has the wrong shape: expected float32[s36 + 1], got "
            "[5] (axis 0 must be 4)");
  EXPECT_EQ(call_error(model, {{"past", floats(3)},
                               {"mask", floats(4)},
                               {"only", floats(10)},
                               {"later", floats(9)}}),
            "input 'later' has the wrong shape: expected float32[s7 + s36], "
            "got [9] (axis 0 must be 8)");
}

TEST(ExportedModel, ConstantThatContradictsTheTraceIsRefused) {
  FakeProgram program;
  program.input({.name = "x", .dims = {-1}})
      .echo({.name = "y", .dims = {-1}}, "x");
  FakeExport fake;
  fake.add("model", program,
           {{"in_spec", Spec::inputs({{"scale", Spec::leaf()},
                                      {"x", Spec::leaf()},
                                      {"mode", Spec::leaf()}})},
            {"in_constants", {{"scale", 2}, {"mode", "add"}}}});
  const auto model = fake.load();
  const Tensor x = Tensor::zeros(DType::float32, {3});
  EXPECT_NO_THROW(model({{"mode", "add"}, {"x", x}, {"scale", 2.0}}));
  EXPECT_NO_THROW(model({{"x", x}}));
  EXPECT_EQ(call_error(model, {{"x", x}, {"scale", 3}}),
            "kwarg 'scale' is 2 in this export, got 3: leave it out, or export "
            "the model with that value");
  EXPECT_EQ(call_error(model, {{"x", x}, {"mode", "mul"}}),
            "kwarg 'mode' is 'add' in this export, got 'mul': leave it out, or "
            "export the model with that value");
  EXPECT_EQ(call_error(model, {{"x", x}, {"scale", x}}),
            "kwarg 'scale' is 2 in this export: leave it out, or export the "
            "model with another value");
  EXPECT_EQ(call_error(model, {{"x", 1.5}}),
            "input 'x' must be a tensor: expected float32[?], got 1.5");
  EXPECT_EQ(call_error(model, {{"x", x}, {"x", x}}),
            "input 'x' is given twice");
}

TEST(ExportedModel, StridedInputIsReadThroughAContiguousCopy) {
  const auto fake = bert();
  const auto model = fake.load();
  std::int64_t columns[] = {1, 2, 3, 4, 5, 6};
  const Tensor transposed = Tensor::view(
      columns, {.dtype = DType::int64, .shape = {2, 3}, .strides = {1, 2}});
  const auto y =
      model({{"input_ids", transposed}, {"attention_mask", int64s({2, 3}, 0)}});
  EXPECT_TRUE(equal(y[0].tensor(),
                    Tensor::from<std::int64_t>({1, 3, 5, 2, 4, 6}, {2, 3})));
}

TEST(ExportedModel, OutputsDoNotChangeWithTheInputsAfterTheCall) {
  FakeProgram program;
  program.input({.name = "x", .dtype = "int64", .dims = {-1}})
      .echo({.name = "y", .dtype = "int64", .dims = {-1}}, "x");
  FakeExport fake;
  fake.add("model", program);
  const auto model = fake.load();
  const Tensor x = int64s({3}, 7);
  const Outputs first = model({{"x", x}});
  x.data<std::int64_t>()[0] = 99;
  const Outputs second = model({{"x", x}});
  EXPECT_EQ(first["y"].tensor().data<std::int64_t>()[0], 7);
  EXPECT_EQ(second["y"].tensor().data<std::int64_t>()[0], 99);
}

TEST(ExportedModel, FilledCacheForAPrefillIsRefused) {
  const Json empty = Json::parse(
      R"({"_t":"obj","p":"transformers.cache_utils:DynamicCache","s":
          {"layers":[{"_t":"obj","p":"m:Layer","s":{"keys":null}}]}})");
  FakeProgram program;
  program.input({.name = "x", .dims = {-1}})
      .echo({.name = "y", .dims = {-1}}, "x");
  FakeExport fake;
  fake.add("prefill", program,
           {{"kwargs",
             {{"x", recorded({3}, "float32")},
              {"past_key_values", {{"container", "DynamicCache"}}}}},
            {"in_spec",
             Spec::inputs({{"x", Spec::leaf()},
                           {"past_key_values",
                            Spec::node("transformers.cache_utils:DynamicCache",
                                       empty, {})}})}});
  const auto model = fake.load();
  const Tensor x = Tensor::zeros(DType::float32, {3});
  EXPECT_NO_THROW(model({{"x", x}}));
  const Value cache = Value::mapping(
      {{"layers", Value::sequence({Value::mapping({{"keys", x}})})}});
  EXPECT_EQ(call_error(model, {{"x", x}, {"past_key_values", cache}}),
            "kwarg 'past_key_values' has a tensor at "
            "'past_key_values.layers.0.keys', where the model was traced with "
            "None: this export ignores it; call the component that was traced "
            "with it");
  EXPECT_EQ(call_error(model, {{"x", x}, {"past_key_values", x}}),
            "kwarg 'past_key_values' must be a "
            "transformers.cache_utils.DynamicCache or a mapping, got "
            "float32[3]");
}

TEST(ExportedModel, SeveralComponentsAreCalledOneByOne) {
  FakeExport fake;
  fake.add("prefill", bert_program(), bert_metadata());
  fake.add("decode", bert_program(), bert_metadata());
  const auto model = fake.load();
  EXPECT_EQ(model.components(),
            (std::vector<std::string>{"prefill", "decode"}));
  EXPECT_EQ(call_error(model, {}),
            "this export has 2 components ('prefill', 'decode'): call one of "
            "them, by component(name)");
  EXPECT_EQ(error_of<NotFound>([&] { (void)model.component("decod"); }),
            "no component 'decod' in this export, did you mean 'decode'? (it "
            "has 'prefill', 'decode')");
  EXPECT_NO_THROW(model.component("decode")(
      {{"input_ids", int64s({1, 1})}, {"attention_mask", int64s({1, 1})}}));
}

TEST(ExportedModel, FormatWithoutABackendLoadsAndRaisesWhenCalled) {
  FakeFolder folder;
  folder.write("model.mlpackage", "{}");
  folder.write("export.json",
               R"({"schema_version": 1, "export_format": "coreml",
                   "components": {"model": {"file": "model.mlpackage",
                   "metadata": {"export_dtype": "bfloat16"}}}})");
  const auto model = ExportedModel::from_pretrained(folder.path());
  EXPECT_EQ(model.dtype(), DType::bfloat16);
  EXPECT_EQ(call_error<Unsupported>(model, {}).starts_with(
                "no registered backend reads the format "
                "'coreml' of component 'model'"),
            true);
}

TEST(ExportedModel, FailedRunNamesTheInputsAndLeavesTheModelUsable) {
  FakeProgram program = bert_program();
  program.fail("run", "backend_error", "Reshape node 'r' failed", 1);
  FakeExport fake;
  fake.add("model", program, bert_metadata());
  const auto model = fake.load();
  const std::vector<Kwarg> kwargs{{"input_ids", int64s({2, 3})},
                                  {"attention_mask", int64s({2, 3})}};
  EXPECT_EQ(call_error<BackendError>(model, kwargs),
            "component 'model' failed in fake: Reshape node 'r' failed (the "
            "inputs passed every check that the export allows, so a size of "
            "its trace may be part of the program; inputs of this call: "
            "'input_ids' int64[2, 3] on cpu, 'attention_mask' int64[2, 3] on "
            "cpu)");
  EXPECT_NO_THROW(model(kwargs));
}

TEST(ExportedModel, OutputsOfTheModelAreItsLastOnes) {
  FakeProgram program;
  program.input({.name = "x", .dims = {-1}})
      .fill({.name = "mutated", .dims = {2}}, 9)
      .echo({.name = "y", .dims = {-1}}, "x");
  FakeExport fake;
  fake.add("model", program,
           {{"out_spec", Spec::text(Spec::node("builtins.tuple", nullptr,
                                               {Spec::leaf(), Spec::leaf()}))},
            {"out_constants", Json::array({Json::array({1, nullptr})})}});
  const auto y = fake.load()({{"x", Tensor::zeros(DType::float32, {3})}});
  EXPECT_EQ(y.kind(), Structure::Kind::tuple);
  EXPECT_EQ(y[0].tensor().shape(), (Shape{3}));
  EXPECT_TRUE(y[1].is_none());
}

TEST(ExportedModel, ProgramWithFewerOutputsThanRecordedIsRefusedAtLoad) {
  FakeProgram program;
  program.input({.name = "x", .dims = {-1}})
      .echo({.name = "y", .dims = {-1}}, "x");
  FakeExport fake;
  fake.add(
      "model", program,
      {{"out_spec", Spec::text(Spec::node("builtins.tuple", nullptr,
                                          {Spec::leaf(), Spec::leaf()}))}});
  EXPECT_EQ(error_of<InvalidArgument>([&] { (void)fake.load(); }),
            "the program has 1 outputs, but export.json records 2 output "
            "tensors: program and manifest are not of one export");
}

TEST(ExportedModel, SteadyCallAllocatesOnlyItsOutputs) {
  const auto fake = bert();
  const auto model = fake.load();
  const std::vector<Kwarg> kwargs{{"input_ids", int64s({2, 3})},
                                  {"attention_mask", int64s({2, 3})}};
  for (int i = 0; i < 3; ++i) model(kwargs);
  const AllocationCount allocations;
  const Outputs outputs = model(kwargs);
  if (!allocations.count()) GTEST_SKIP() << "a sanitizer has its own new";
  // The frame of the outputs, and the owner of the one output's memory.
  EXPECT_EQ(*allocations.count(), 2u);
}

TEST(ExportedModel, BoundCallAllocatesNothing) {
  const auto fake = bert();
  const auto model = fake.load();
  const Tensor ids = int64s({2, 3}, 4);
  auto bound =
      model.bind({{"input_ids", ids}, {"attention_mask", int64s({2, 3})}});
  EXPECT_EQ(bound()[0].tensor().data<std::int64_t>()[0], 5);
  ids.data<std::int64_t>()[0] = 10;
  const AllocationCount allocations;
  const Outputs& outputs = bound();
  const auto count = allocations.count();
  EXPECT_EQ(outputs[0].tensor().data<std::int64_t>()[0], 11);
  if (!count) GTEST_SKIP() << "a sanitizer has its own new";
  EXPECT_EQ(*count, 0u);
}

TEST(ExportedModel, BindRefusesWhatItWouldHaveToCopy) {
  const auto fake = bert();
  const Tensor narrow = Tensor::zeros(DType::int32, {2, 3});
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              (void)fake.load().bind(
                  {{"input_ids", narrow}, {"attention_mask", int64s({2, 3})}});
            }),
            "cannot bind input 'input_ids' in place: expected contiguous "
            "int64[s72, s53]; convert it, and keep writing to the result");
}

TEST(ExportedModel, SharedOutputsStayWhileTheyAreHeld) {
  const auto fake = bert();
  const auto model = fake.load();
  const auto call = [&](std::int64_t value) {
    return model({{"input_ids", int64s({2, 3}, value)},
                  {"attention_mask", int64s({2, 3}, 0)}},
                 {.share_outputs = true});
  };
  Outputs first = call(1);
  const Outputs second = call(2);
  EXPECT_EQ(first[0].tensor().data<std::int64_t>()[0], 1);
  const void* const memory = first[0].tensor().raw_data();
  first = Outputs();
  const Outputs third = call(3);
  EXPECT_EQ(third[0].tensor().raw_data(), memory);
  EXPECT_EQ(second[0].tensor().data<std::int64_t>()[0], 2);
}

TEST(ExportedModel, SharedOutputsOutliveTheModel) {
  Outputs outputs;
  {
    const auto fake = bert();
    outputs = fake.load()(
        {{"input_ids", int64s({1, 2}, 3)}, {"attention_mask", int64s({1, 2})}},
        {.share_outputs = true});
  }
  EXPECT_EQ(outputs[0].tensor().data<std::int64_t>()[1], 4);
}

TEST(ExportedModel, ConfigsAreValues) {
  auto fake = bert();
  fake.folder().write("config.json", R"({"hidden_size": 32,
      "architectures": ["BertModel"], "dropout": 0.5, "x": null})");
  const auto model = fake.load();
  EXPECT_EQ(model.config()["hidden_size"].as<std::int64_t>(), 32);
  EXPECT_EQ(model.config()["architectures"][0].as<std::string>(), "BertModel");
  EXPECT_TRUE(model.config()["x"].is_none());
  EXPECT_TRUE(model.generation_config().is_none());
  EXPECT_EQ(model.dtype(), DType::float32);
  EXPECT_EQ(model.device(), Device{});
  EXPECT_EQ(model.report()["model"]["backend"].as<std::string>(), "fake");
}

TEST(ExportedModel, WarmupCallsWithTheRecordedShapes) {
  const auto fake = bert();
  EXPECT_NO_THROW(fake.load().warmup());
}

TEST(ExportedModel, DtypeOfABareProgramIsNotRecorded) {
  FakeFolder folder;
  FakeProgram()
      .input({.name = "x", .dims = {1}})
      .echo({.name = "y", .dims = {1}}, "x")
      .save(folder.path() / "model.pt2");
  register_fake("fake", {"dynamo"});
  const auto model = ExportedModel::from_pretrained(folder.path() / "model.pt2",
                                                    {.backend = "fake"});
  EXPECT_EQ(error_of<NotFound>([&] { (void)model.dtype(); }),
            "nothing records the dtype that this export was traced at: it has "
            "no export.json");
  EXPECT_EQ(model({{"x", Tensor::zeros(DType::float32, {1})}}).keys(),
            std::vector<std::string>{"y"});
}

TEST(ExportedModel, UnknownOptionListsTheKnownOnes) {
  const auto fake = bert();
  const std::string message = error_of<InvalidArgument>(
      [&] { (void)fake.load({.options = {{"thread", 2}}}); });
  EXPECT_NE(message.find("thread"), std::string::npos);
  EXPECT_NE(message.find("threads"), std::string::npos);
}

TEST(ExportedModel, BackendThatDoesNotReadTheFormatIsRefused) {
  const auto fake = bert();
  EXPECT_EQ(error_of<Unsupported>([&] {
              (void)ExportedModel::from_pretrained(fake.path(),
                                                   {.backend = "onnxruntime"});
            }),
            "backend 'onnxruntime' reads 'onnx', but component 'model' is "
            "'dynamo'");
}

}  // namespace
}  // namespace modelrun::testing
