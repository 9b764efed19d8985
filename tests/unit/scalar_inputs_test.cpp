// SPDX-License-Identifier: Apache-2.0
// Numbers that are part of a program, which lists inputs for them all the same.
#include <gtest/gtest.h>

#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "support/fake_export.h"

namespace modelrun::testing {
namespace {

using Json = nlohmann::ordered_json;

FakeExport export_with_numbers(const Json& times = 3) {
  FakeProgram program;
  program.input({.name = "x", .dtype = "int64", .dims = {-1}})
      .input({.name = "double", .dtype = "bool", .dims = {}})
      .input({.name = "times", .dtype = "int32", .dims = {}})
      .input({.name = "scale", .dims = {}})
      .echo({.name = "double_out", .dtype = "bool", .dims = {}}, "double")
      .echo({.name = "times_out", .dtype = "int32", .dims = {}}, "times")
      .echo({.name = "scale_out", .dims = {}}, "scale");
  FakeExport fake;
  fake.add(
      "model", program,
      {{"kwargs", {{"x", recorded({2}, "int64")}}},
       {"in_constants", {{"double", true}, {"times", times}, {"scale", 0.5}}},
       {"in_spec", Spec::inputs({{"x", Spec::leaf()},
                                 {"double", Spec::leaf()},
                                 {"times", Spec::leaf()},
                                 {"scale", Spec::leaf()}})},
       {"out_spec",
        Spec::text(Spec::node("builtins.dict",
                              {"double_out", "times_out", "scale_out"},
                              {Spec::leaf(), Spec::leaf(), Spec::leaf()}))}});
  return fake;
}

Tensor x() { return Tensor::from<std::int64_t>({1, 2}, {2}); }

void expect_numbers(const Outputs& outputs) {
  EXPECT_TRUE(outputs["double_out"].tensor().data<const bool>()[0]);
  EXPECT_EQ(outputs["times_out"].tensor().data<const std::int32_t>()[0], 3);
  EXPECT_EQ(outputs["scale_out"].tensor().data<const float>()[0], 0.5F);
}

TEST(ScalarInputs, NumbersMayBeLeftOutOrGiven) {
  const FakeExport fake = export_with_numbers();
  const ExportedModel model = fake.load();
  expect_numbers(model({{"x", x()}}));
  expect_numbers(
      model({{"x", x()}, {"double", true}, {"times", 3}, {"scale", 0.5}}));
  expect_numbers(model.bind({{"x", x()}})());
  EXPECT_NO_THROW(model.warmup());
}

TEST(ScalarInputs, OtherNumbersAreRefused) {
  const FakeExport fake = export_with_numbers();
  const ExportedModel model = fake.load();
  const std::string message = error_of<InvalidArgument>(
      [&] { (void)model({{"x", x()}, {"times", 4}}); });
  EXPECT_NE(message.find("kwarg 'times' is 3 in this export, got 4"),
            std::string::npos)
      << message;
}

TEST(ScalarInputs, NumberThatDoesNotFitItsInputIsRefusedAtLoad) {
  const FakeExport fake = export_with_numbers(std::int64_t{1} << 40);
  const std::string message =
      error_of<InvalidArgument>([&] { (void)fake.load(); });
  EXPECT_NE(message.find("'times' holds 1099511627776"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace modelrun::testing
