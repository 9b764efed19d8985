// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/symbolic_dim.h"

namespace modelrun {
namespace {

constexpr std::int64_t kUnbound = SymbolicDim::kUnbound;

// The value of a text whose only symbol has this value.
std::optional<std::int64_t> evaluate(const std::string& text,
                                     std::int64_t value) {
  SymbolTable symbols;
  const SymbolicDim dim = SymbolicDim::parse(text, symbols);
  const std::vector<std::int64_t> values(symbols.size(), value);
  return dim.evaluate(values);
}

// What its only symbol must be for a text to have this size.
std::optional<std::int64_t> solve(const std::string& text, std::int64_t size) {
  SymbolTable symbols;
  const SymbolicDim dim = SymbolicDim::parse(text, symbols);
  const std::vector<std::int64_t> values(symbols.size(), kUnbound);
  const auto solution = dim.solve(size, values);
  if (!solution) return std::nullopt;
  return solution->value;
}

// Whether a text is taken as one symbol of its own.
bool is_opaque(const std::string& text) {
  SymbolTable symbols;
  const SymbolicDim dim = SymbolicDim::parse(text, symbols);
  return dim.symbol() && symbols.size() == 1 && symbols.name(0) == text;
}

TEST(SymbolicDim, OperatorsHaveTheirPythonMeaning) {
  EXPECT_EQ(evaluate("s36 + 1", 7), 8);
  EXPECT_EQ(evaluate("2*s5", 7), 14);
  EXPECT_EQ(evaluate("s1//2", 7), 3);
  EXPECT_EQ(evaluate("(s1//2) + 1", 7), 4);
  EXPECT_EQ(evaluate("-s1//2", 7), -4);
  EXPECT_EQ(evaluate("s1 % 4", 7), 3);
  EXPECT_EQ(evaluate("(0 - s1) % 4", 7), 1);
  EXPECT_EQ(evaluate("s1**3", 2), 8);
  EXPECT_EQ(evaluate("-s1**2 + 20", 4), 4);
  EXPECT_EQ(evaluate("10 - 2 - s1", 3), 5);
  EXPECT_EQ(evaluate("2 + 3*s1", 4), 14);
}

TEST(SymbolicDim, FunctionsHaveTheirSympyMeaning) {
  EXPECT_EQ(evaluate("Max(1, s2)", 0), 1);
  EXPECT_EQ(evaluate("Max(1, s2, 5)", 7), 7);
  EXPECT_EQ(evaluate("Min(8, s2)", 7), 7);
  EXPECT_EQ(evaluate("floor(s1/2)", 7), 3);
  EXPECT_EQ(evaluate("floor(s1/2 - 1/2) + 1", 8), 4);
  EXPECT_EQ(evaluate("ceiling(s1/2)", 7), 4);
  EXPECT_EQ(evaluate("FloorDiv(s1, 2)", 7), 3);
  EXPECT_EQ(evaluate("Mod(s1, 4)", 7), 3);
  EXPECT_EQ(evaluate("IntTrueDiv(s1, 2)*2", 7), 7);
}

TEST(SymbolicDim, NoIntegerIsNothing) {
  EXPECT_EQ(evaluate("s1/2", 7), std::nullopt);
  EXPECT_EQ(evaluate("s1/0", 7), std::nullopt);
  EXPECT_EQ(evaluate("s1//0", 7), std::nullopt);
  EXPECT_EQ(evaluate("s1 % 0", 7), std::nullopt);
}

TEST(SymbolicDim, OverflowIsNothing) {
  EXPECT_EQ(evaluate("s1 + 9223372036854775807", 1), std::nullopt);
  EXPECT_EQ(evaluate("s1**8", std::int64_t{1} << 40), std::nullopt);
  EXPECT_EQ(evaluate("s1*4611686018427387904", 3), std::nullopt);
  EXPECT_EQ(solve("s1 - 9223372036854775807", 1), std::nullopt);
}

TEST(SymbolicDim, LinearExpressionIsSolved) {
  EXPECT_EQ(solve("s36", 8), 8);
  EXPECT_EQ(solve("s36 + 1", 8), 7);
  EXPECT_EQ(solve("2*s5", 8), 4);
  EXPECT_EQ(solve("s1 + s1", 8), 4);
  EXPECT_EQ(solve("-s1 + 9", 8), 1);
  EXPECT_EQ(solve("s1/2", 4), 8);
  EXPECT_EQ(solve("floor(s1 + 2)", 8), 6);
}

TEST(SymbolicDim, WhatHasNoSingleSolutionIsNotSolved) {
  EXPECT_EQ(solve("2*s5", 7), std::nullopt);
  EXPECT_EQ(solve("s36 + 9", 8), std::nullopt);
  EXPECT_EQ(solve("s1//2", 4), std::nullopt);
  EXPECT_EQ(solve("Max(1, s2)", 4), std::nullopt);
  EXPECT_EQ(solve("s1**2", 4), std::nullopt);
  EXPECT_EQ(solve("s1 + s2", 4), std::nullopt);
  EXPECT_EQ(solve("s1 - s1", 0), std::nullopt);
  EXPECT_EQ(solve("7", 7), std::nullopt);
}

TEST(SymbolicDim, KnownSymbolsHelpToSolve) {
  SymbolTable symbols;
  const SymbolicDim dim = SymbolicDim::parse("s1*past + new", symbols);
  std::vector<std::int64_t> values = {2, kUnbound, 3};
  const auto solution = dim.solve(13, values);
  ASSERT_TRUE(solution);
  EXPECT_EQ(symbols.name(solution->symbol), "past");
  EXPECT_EQ(solution->value, 5);
  EXPECT_EQ(dim.evaluate(values), std::nullopt);
  values[1] = 5;
  EXPECT_EQ(dim.evaluate(values), 13);
}

TEST(SymbolicDim, OneNameIsOneSymbolInAllDimensions) {
  SymbolTable symbols;
  const SymbolicDim a = SymbolicDim::parse("batch_size", symbols);
  const SymbolicDim b = SymbolicDim::parse("2*batch_size + s1", symbols);
  EXPECT_EQ(symbols.size(), 2U);
  EXPECT_EQ(a.symbol(), 0U);
  EXPECT_EQ(b.symbol(), std::nullopt);
  EXPECT_EQ(b.text(), "2*batch_size + s1");
}

TEST(SymbolicDim, NumbersAreConstants) {
  SymbolTable symbols;
  EXPECT_EQ(SymbolicDim::parse("7", symbols).constant(), 7);
  EXPECT_EQ(SymbolicDim::parse("2*(3 + 1)", symbols).constant(), 8);
  EXPECT_EQ(SymbolicDim::constant(5).constant(), 5);
  EXPECT_EQ(SymbolicDim::constant(5).text(), "5");
  EXPECT_EQ(SymbolicDim::parse("s1", symbols).constant(), std::nullopt);
}

TEST(SymbolicDim, NamesMayHoldDotsAndHyphens) {
  EXPECT_TRUE(is_opaque("input.dim_0"));
  EXPECT_TRUE(is_opaque("batch-size"));
  EXPECT_EQ(evaluate("s1-1", 7), 6);
}

TEST(SymbolicDim, WhatCannotBeReadIsASymbolOfItsOwn) {
  for (const std::string text :
       {"batch size", "s1 +", "((((s1", "Foo(s1)", "s1 +* 2", "1.5*s1",
        "s1 & 1", "Max()", "s1**99", "s1**-1", "2s", "\xff", "floor(s1", "s1)",
        "99999999999999999999"}) {
    EXPECT_TRUE(is_opaque(text)) << text;
  }
}

TEST(SymbolicDim, EndlessTextsAreSymbolsOfTheirOwn) {
  EXPECT_TRUE(is_opaque(std::string(100000, '(')));
  EXPECT_TRUE(is_opaque(std::string(500, '-') + "s1"));
  EXPECT_TRUE(is_opaque(std::string(400, '(') + "s1" + std::string(400, ')')));
  std::string sum = "s1";
  for (int i = 0; i < 200; ++i) sum += "+s1";
  EXPECT_TRUE(is_opaque(sum));
}

TEST(SymbolicDim, UnknownDimensionsAreAllDifferent) {
  SymbolTable symbols;
  const SymbolicDim a = SymbolicDim::parse("", symbols);
  const SymbolicDim b = SymbolicDim::parse("?", symbols);
  const SymbolicDim c = SymbolicDim::parse("", symbols);
  EXPECT_NE(a.symbol(), b.symbol());
  EXPECT_NE(a.symbol(), c.symbol());
  EXPECT_EQ(symbols.size(), 3U);
}

TEST(SymbolicDim, ValuesOfFewerSymbolsLeaveTheRestUnbound) {
  SymbolTable symbols;
  static_cast<void>(SymbolicDim::parse("a", symbols));
  const SymbolicDim b = SymbolicDim::parse("b", symbols);
  const std::vector<std::int64_t> values = {4};
  EXPECT_EQ(b.evaluate(values), std::nullopt);
  EXPECT_EQ(b.solve(3, values)->symbol, 1U);
}

}  // namespace
}  // namespace modelrun
