// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun {

/// The symbols of one program's dimensions, numbered as they are first seen.
class SymbolTable {
 public:
  /// The number of a symbol, a new one when it has none yet.
  std::size_t index_of(std::string_view name);
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t index) const {
    return names_[index];
  }

 private:
  std::vector<std::string> names_;
};

namespace detail {

enum class DimOp : std::uint8_t {
  number,
  symbol,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  maximum,
  minimum,
  floor,
  ceiling,
};

// A step of an expression in postfix order.
struct DimStep {
  DimOp op;
  std::int64_t operand = 0;
};

}  // namespace detail

/// A dimension as a program writes it: a number, a symbol, or an expression of
/// symbols, such as `s36 + 1`, `2*s5`, `s1//2`, `Max(1, s2)`, `floor(s1/2)`.
///
/// ```
/// SymbolTable symbols;
/// SymbolicDim dim = SymbolicDim::parse("s36 + 1", symbols);
/// std::vector<std::int64_t> values(symbols.size(), SymbolicDim::kUnbound);
/// dim.solve(8, values)->value;  // s36 is 7
/// values[0] = 7;
/// dim.evaluate(values);  // 8
/// ```
///
/// A text that is no such expression becomes a symbol of its own, named by
/// the whole text: it is compared only with itself. An empty text is a
/// dimension of which nothing is known, a new symbol each time. Immutable;
/// calls allocate nothing.
class SymbolicDim {
 public:
  /// The value of a symbol that is not known (yet).
  static constexpr std::int64_t kUnbound = INT64_MIN;

  static SymbolicDim parse(std::string_view text, SymbolTable& symbols);
  static SymbolicDim constant(std::int64_t value);

  /// As written.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The value, when it holds no symbol.
  [[nodiscard]] std::optional<std::int64_t> constant() const;
  /// The symbol's number, when it is one symbol and no more.
  [[nodiscard]] std::optional<std::size_t> symbol() const noexcept;

  /// The value under `values`, one a symbol of the table. Nothing when a symbol
  /// is unbound, and where the value is no integer of 64 bits.
  [[nodiscard]] std::optional<std::int64_t> evaluate(
      std::span<const std::int64_t> values) const;

  struct Solution {
    std::size_t symbol;
    std::int64_t value;
  };
  /// The value of the one unbound symbol for which this dimension is `size`.
  /// Nothing unless just one is unbound, the dimension is linear in it, and
  /// an integer of 0 or more solves it.
  [[nodiscard]] std::optional<Solution> solve(
      std::int64_t size, std::span<const std::int64_t> values) const;

 private:
  std::string text_;
  std::vector<detail::DimStep> steps_;
};

}  // namespace modelrun
