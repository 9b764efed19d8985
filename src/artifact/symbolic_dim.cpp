// SPDX-License-Identifier: Apache-2.0
#include "artifact/symbolic_dim.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "artifact/rational.h"

namespace modelrun {
namespace {

using Op = detail::DimOp;
using Step = detail::DimStep;

constexpr std::size_t kMaxStack = 32;
constexpr std::size_t kMaxSteps = 256;
constexpr std::size_t kMaxText = 1024;
constexpr int kMaxDepth = 32;
constexpr std::int64_t kMaxPower = 8;

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// slope * unknown + offset.
struct Linear {
  Rational slope;
  Rational offset;
};

using MaybeLinear = std::optional<Linear>;

bool is_constant(const Linear& value) noexcept {
  return value.slope.numerator == 0;
}

MaybeLinear constant_or_nothing(std::optional<Rational> value) {
  if (!value) return std::nullopt;
  return Linear{{}, *value};
}

MaybeLinear scale(const Linear& a, Rational factor) {
  const auto slope = multiply(a.slope, factor);
  const auto offset = multiply(a.offset, factor);
  if (!slope || !offset) return std::nullopt;
  return Linear{*slope, *offset};
}

MaybeLinear sum(const Linear& a, const Linear& b) {
  const auto slope = add(a.slope, b.slope);
  const auto offset = add(a.offset, b.offset);
  if (!slope || !offset) return std::nullopt;
  return Linear{*slope, *offset};
}

MaybeLinear difference(const Linear& a, const Linear& b) {
  const MaybeLinear negative = scale(b, {-1, 1});
  return negative ? sum(a, *negative) : std::nullopt;
}

MaybeLinear product(const Linear& a, const Linear& b) {
  if (is_constant(a)) return scale(b, a.offset);
  if (is_constant(b)) return scale(a, b.offset);
  return std::nullopt;
}

MaybeLinear quotient(const Linear& a, const Linear& b) {
  if (!is_constant(b)) return std::nullopt;
  const auto inverse = divide({1, 1}, b.offset);
  return inverse ? scale(a, *inverse) : std::nullopt;
}

std::optional<Rational> floor_quotient(Rational a, Rational b) {
  const auto exact = divide(a, b);
  if (!exact) return std::nullopt;
  return Rational{floor(*exact), 1};
}

// As Python has it: the sign of the divisor.
std::optional<Rational> modulo(Rational a, Rational b) {
  const auto whole = floor_quotient(a, b);
  if (!whole) return std::nullopt;
  const auto taken = multiply(*whole, {-b.numerator, b.denominator});
  return taken ? add(a, *taken) : std::nullopt;
}

std::optional<Rational> larger(Rational a, Rational b, bool maximum) {
  const auto gap = add(a, {-b.numerator, b.denominator});
  if (!gap) return std::nullopt;
  return (gap->numerator >= 0) == maximum ? a : b;
}

MaybeLinear combine(Op op, const Linear& a, const Linear& b) {
  switch (op) {
    case Op::add:
      return sum(a, b);
    case Op::subtract:
      return difference(a, b);
    case Op::multiply:
      return product(a, b);
    case Op::divide:
      return quotient(a, b);
    default:
      break;
  }
  if (!is_constant(a) || !is_constant(b)) return std::nullopt;
  switch (op) {
    case Op::floor_divide:
      return constant_or_nothing(floor_quotient(a.offset, b.offset));
    case Op::modulo:
      return constant_or_nothing(modulo(a.offset, b.offset));
    default:
      return constant_or_nothing(larger(a.offset, b.offset, op == Op::maximum));
  }
}

// Runs steps on a stack; `unknown` is the symbol that stands for itself.
MaybeLinear run(const std::vector<Step>& steps,
                std::span<const std::int64_t> values, std::int64_t unknown) {
  std::array<Linear, kMaxStack> stack;
  std::size_t top = 0;
  for (const auto& [op, operand] : steps) {
    MaybeLinear value;
    if (op == Op::number) {
      value = Linear{{}, {operand, 1}};
    } else if (op == Op::symbol) {
      const auto index = static_cast<std::size_t>(operand);
      const bool bound =
          index < values.size() && values[index] != SymbolicDim::kUnbound;
      if (operand == unknown) value = Linear{{1, 1}, {}};
      if (bound) value = Linear{{}, {values[index], 1}};
    } else if (op == Op::floor || op == Op::ceiling) {
      const Linear a = stack[--top];
      const bool up = op == Op::ceiling;
      const std::int64_t sign = up ? -1 : 1;
      const Rational turned{sign * a.offset.numerator, a.offset.denominator};
      if (is_constant(a)) value = Linear{{}, {sign * floor(turned), 1}};
      // The floor of whole multiples of a symbol is they themselves.
      if (a.slope.denominator == 1 && a.offset.denominator == 1) value = a;
    } else {
      top -= 2;
      value = combine(op, stack[top], stack[top + 1]);
    }
    if (!value) return std::nullopt;
    stack[top++] = *value;
  }
  return stack[0];
}

// Recursive descent, with Python's precedences; false at the first thing that
// it does not know.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool parse() {
    if (rest_.size() > kMaxText || !sum(0)) return false;
    skip_spaces();
    return rest_.empty();
  }

  std::vector<Step> steps;
  // The symbols that the steps number.
  std::vector<std::string> names;

 private:
  bool emit(Op op, std::int64_t operand = 0) {
    // Operations with two operands leave one value less.
    const bool pushes = op == Op::number || op == Op::symbol;
    const bool unary = op == Op::floor || op == Op::ceiling;
    stack_ += pushes ? 1 : 0;
    stack_ -= !pushes && !unary ? 1 : 0;
    steps.push_back({op, operand});
    return steps.size() <= kMaxSteps && stack_ <= kMaxStack;
  }

  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool sum(int depth) {
    if (depth > kMaxDepth || !product(depth)) return false;
    for (;;) {
      Op op = Op::add;
      if (take("-")) {
        op = Op::subtract;
      } else if (!take("+")) {
        return true;
      }
      if (!product(depth) || !emit(op)) return false;
    }
  }

  bool product(int depth) {
    if (!factor(depth)) return false;
    for (;;) {
      Op op = Op::multiply;
      if (take("//")) {
        op = Op::floor_divide;
      } else if (take("/")) {
        op = Op::divide;
      } else if (take("%")) {
        op = Op::modulo;
      } else if (!take("*")) {
        return true;
      }
      if (!factor(depth) || !emit(op)) return false;
    }
  }

  bool factor(int depth) {
    if (depth > kMaxDepth) return false;
    if (take("-")) {
      return emit(Op::number, -1) && factor(depth + 1) && emit(Op::multiply);
    }
    const std::size_t begin = steps.size();
    if (!atom(depth)) return false;
    return !take("**") || power(begin);
  }

  // A power is written out as a product.
  bool power(std::size_t begin) {
    skip_spaces();
    std::int64_t exponent = 0;
    if (!integer(exponent) || exponent < 1 || exponent > kMaxPower) {
      return false;
    }
    const std::vector<Step> base(
        steps.begin() + static_cast<std::ptrdiff_t>(begin), steps.end());
    for (std::int64_t i = 1; i < exponent; ++i) {
      for (const Step& step : base) {
        if (!emit(step.op, step.operand)) return false;
      }
      if (!emit(Op::multiply)) return false;
    }
    return true;
  }

  bool integer(std::int64_t& value) {
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || rest_.front() == '-') return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return rest_.empty() || (!is_letter(rest_[0]) && rest_[0] != '.');
  }

  bool atom(int depth) {
    if (take("(")) return sum(depth + 1) && take(")");
    if (rest_.empty()) return false;
    if (is_digit(rest_.front())) {
      std::int64_t value = 0;
      return integer(value) && emit(Op::number, value);
    }
    if (!is_letter(rest_.front())) return false;
    const std::string_view name = identifier();
    if (take("(")) return call(name, depth + 1);
    const auto at = std::find(names.begin(), names.end(), name);
    const auto index = at - names.begin();
    if (at == names.end()) names.emplace_back(name);
    return emit(Op::symbol, index);
  }

  // Letters, digits and dots; and a hyphen between letters, since an exporter
  // puts spaces around a minus.
  std::string_view identifier() {
    std::size_t end = 0;
    while (end < rest_.size()) {
      const char c = rest_[end];
      const bool hyphen =
          c == '-' && end + 1 < rest_.size() && is_letter(rest_[end + 1]);
      if (!is_letter(c) && !is_digit(c) && c != '.' && !hyphen) break;
      ++end;
    }
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  bool call(std::string_view name, int depth) {
    Op op = Op::number;
    if (name == "Max" || name == "max") op = Op::maximum;
    if (name == "Min" || name == "min") op = Op::minimum;
    if (op != Op::number) return arguments(op, depth);
    if (name == "floor" || name == "FloorToInt") op = Op::floor;
    if (name == "ceiling" || name == "ceil" || name == "CeilToInt") {
      op = Op::ceiling;
    }
    if (op != Op::number) return sum(depth) && take(")") && emit(op);
    if (name == "FloorDiv" || name == "CleanDiv") op = Op::floor_divide;
    if (name == "IntTrueDiv") op = Op::divide;
    if (name == "Mod" || name == "PythonMod") op = Op::modulo;
    return op != Op::number && sum(depth) && take(",") && sum(depth) &&
           take(")") && emit(op);
  }

  bool arguments(Op op, int depth) {
    if (!sum(depth)) return false;
    while (take(",")) {
      if (!sum(depth) || !emit(op)) return false;
    }
    return take(")");
  }

  std::string_view rest_;
  std::size_t stack_ = 0;
};

}  // namespace

std::size_t SymbolTable::index_of(std::string_view name) {
  const auto at = std::find(names_.begin(), names_.end(), name);
  const auto index = static_cast<std::size_t>(at - names_.begin());
  if (at == names_.end()) names_.emplace_back(name);
  return index;
}

SymbolicDim SymbolicDim::parse(std::string_view text, SymbolTable& symbols) {
  SymbolicDim dim;
  dim.text_ = text;
  Parser parser(text);
  if (parser.parse()) {
    dim.steps_ = std::move(parser.steps);
    for (Step& step : dim.steps_) {
      if (step.op != Op::symbol) continue;
      const auto local = static_cast<std::size_t>(step.operand);
      step.operand =
          static_cast<std::int64_t>(symbols.index_of(parser.names[local]));
    }
    return dim;
  }
  // A name that no text can have, so that it is bound by itself.
  const bool unknown = text.empty() || text == "?";
  const std::string name =
      unknown ? "?" + std::to_string(symbols.size()) : std::string(text);
  dim.steps_.push_back(
      {Op::symbol, static_cast<std::int64_t>(symbols.index_of(name))});
  return dim;
}

SymbolicDim SymbolicDim::constant(std::int64_t value) {
  SymbolicDim dim;
  dim.text_ = std::to_string(value);
  dim.steps_.push_back({Op::number, value});
  return dim;
}

std::optional<std::int64_t> SymbolicDim::constant() const {
  // A number by itself is what nearly every fixed dimension is, and is asked
  // for in each call.
  if (steps_.size() == 1 && steps_[0].op == Op::number) {
    return steps_[0].operand;
  }
  for (const Step& step : steps_) {
    if (step.op == Op::symbol) return std::nullopt;
  }
  return evaluate({});
}

std::optional<std::size_t> SymbolicDim::symbol() const noexcept {
  if (steps_.size() != 1 || steps_[0].op != Op::symbol) return std::nullopt;
  return static_cast<std::size_t>(steps_[0].operand);
}

std::optional<std::int64_t> SymbolicDim::evaluate(
    std::span<const std::int64_t> values) const {
  const MaybeLinear value = run(steps_, values, -1);
  if (!value || value->offset.denominator != 1) return std::nullopt;
  return value->offset.numerator;
}

std::optional<SymbolicDim::Solution> SymbolicDim::solve(
    std::int64_t size, std::span<const std::int64_t> values) const {
  std::int64_t unknown = -1;
  for (const Step& step : steps_) {
    if (step.op != Op::symbol) continue;
    const auto index = static_cast<std::size_t>(step.operand);
    if (index < values.size() && values[index] != kUnbound) continue;
    if (unknown >= 0 && unknown != step.operand) return std::nullopt;
    unknown = step.operand;
  }
  if (unknown < 0) return std::nullopt;
  const MaybeLinear form = run(steps_, values, unknown);
  if (!form || is_constant(*form)) return std::nullopt;
  const MaybeLinear rest = difference({{}, {size, 1}}, {{}, form->offset});
  if (!rest) return std::nullopt;
  const auto value = divide(rest->offset, form->slope);
  if (!value || value->denominator != 1 || value->numerator < 0) {
    return std::nullopt;
  }
  return Solution{static_cast<std::size_t>(unknown), value->numerator};
}

}  // namespace modelrun
