// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/guard_expression.h"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "backends/torch/scalar_function.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

constexpr int kMaxDepth = 64;

struct Operator {
  std::string_view text;
  const char* function;
};

// Longer ones first.
constexpr std::array kComparisons{
    Operator{"<=", "_operator.le"}, Operator{">=", "_operator.ge"},
    Operator{"==", "_operator.eq"}, Operator{"!=", "_operator.ne"},
    Operator{"<", "_operator.lt"},  Operator{">", "_operator.gt"}};
constexpr std::array kSums{Operator{"+", "_operator.add"},
                           Operator{"-", "_operator.sub"}};
constexpr std::array kProducts{
    Operator{"//", "_operator.floordiv"}, Operator{"/", "_operator.truediv"},
    Operator{"%", "_operator.mod"}, Operator{"*", "_operator.mul"}};
/// Functions by the names that guards use.
constexpr std::array kFunctions{Operator{"max", "torch.sym_max"},
                                Operator{"min", "torch.sym_min"},
                                Operator{"Max", "torch.sym_max"},
                                Operator{"Min", "torch.sym_min"},
                                Operator{"abs", "builtins.abs"},
                                Operator{"int", "torch.sym_int"},
                                Operator{"float", "torch.sym_float"},
                                Operator{"math.floor", "math.floor"},
                                Operator{"math.ceil", "math.ceil"},
                                Operator{"math.trunc", "math.trunc"},
                                Operator{"math.sqrt", "math.sqrt"},
                                Operator{"torch.sym_max", "torch.sym_max"},
                                Operator{"torch.sym_min", "torch.sym_min"},
                                Operator{"torch.sym_int", "torch.sym_int"},
                                Operator{"torch.sym_float", "torch.sym_float"},
                                Operator{"torch.sym_not", "torch.sym_not"},
                                Operator{"Mod", "_operator.mod"},
                                Operator{"FloorDiv", "_operator.floordiv"}};

struct Unreadable {};

}  // namespace

/// Python's expression grammar, as far as guards go.
class GuardParser {
 public:
  GuardParser(GuardExpression& guard, const LeafLookup& leaves)
      : guard_(guard), text_(guard.text_), leaves_(leaves) {}

  void parse() {
    any_of();
    skip_spaces();
    if (at_ != text_.size()) throw Unreadable{};
  }

 private:
  using Step = GuardExpression::Step;

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) throw Unreadable{};
  }
  bool accept_word(std::string_view word) {
    skip_spaces();
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word) return false;
    if (end < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
         text_[end] == '_')) {
      return false;
    }
    at_ = end;
    return true;
  }
  void emit(const char* function, std::size_t operands) {
    guard_.steps_.push_back({.function = find_scalar_function(function),
                             .operands = operands,
                             .reference = {},
                             .constant = {}});
  }
  void emit_constant(c10::IValue value) {
    guard_.steps_.push_back({.function = nullptr,
                             .operands = 0,
                             .reference = {},
                             .constant = std::move(value)});
  }

  void any_of() {
    if (++depth_ > kMaxDepth) throw Unreadable{};
    all_of();
    while (accept_word("or")) {
      all_of();
      emit("_operator.or_", 2);
    }
    --depth_;
  }
  void all_of() {
    negation();
    while (accept_word("and")) {
      negation();
      emit("_operator.and_", 2);
    }
  }
  void negation() {
    std::size_t count = 0;
    while (accept_word("not")) ++count;
    comparison();
    for (; count > 0; --count) emit("torch.sym_not", 1);
  }
  const Operator* accept_any(std::span<const Operator> operators) {
    for (const Operator& entry : operators) {
      if (accept(entry.text)) return &entry;
    }
    return nullptr;
  }
  /// `a <= b < c` is `a <= b and b < c`.
  void comparison() {
    sum();
    std::size_t count = 0;
    while (const Operator* found = accept_any(kComparisons)) {
      const std::size_t first = guard_.steps_.size();
      sum();
      const std::vector<Step> right(
          guard_.steps_.begin() + static_cast<std::ptrdiff_t>(first),
          guard_.steps_.end());
      emit(found->function, 2);
      if (++count > 1) emit("_operator.and_", 2);
      const std::size_t here = at_;
      if (accept_any(kComparisons) == nullptr) break;
      at_ = here;
      guard_.steps_.insert(guard_.steps_.end(), right.begin(), right.end());
      if (guard_.steps_.size() > 10000) throw Unreadable{};
    }
  }
  void sum() {
    product();
    while (const Operator* found = accept_any(kSums)) {
      product();
      emit(found->function, 2);
    }
  }
  void product() {
    unary();
    while (true) {
      const std::size_t here = at_;
      if (accept("**")) {
        at_ = here;
        return;
      }
      const Operator* found = accept_any(kProducts);
      if (found == nullptr) return;
      unary();
      emit(found->function, 2);
    }
  }
  void unary() {
    if (++depth_ > kMaxDepth) throw Unreadable{};
    if (accept("-")) {
      unary();
      emit("_operator.neg", 1);
    } else {
      atom();
      if (accept("**")) {
        unary();
        emit("_operator.pow", 2);
      }
    }
    --depth_;
  }
  void atom() {
    skip_spaces();
    if (at_ >= text_.size()) throw Unreadable{};
    if (accept("(")) {
      any_of();
      expect(")");
    } else if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      number();
    } else if (accept_word("True")) {
      emit_constant(true);
    } else if (accept_word("False")) {
      emit_constant(false);
    } else if (accept_word("None")) {
      emit_constant({});
    } else if (text_.substr(at_, 2) == "L[") {
      reference();
    } else {
      function();
    }
  }
  void number() {
    const char* const first = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t integer = 0;
    const auto [stop, error] = std::from_chars(first, end, integer);
    double floating = 0;
    const auto [stop_float, error_float] =
        std::from_chars(first, end, floating);
    if (stop_float > stop && error_float == std::errc()) {
      at_ += static_cast<std::size_t>(stop_float - first);
      return emit_constant(floating);
    }
    if (error != std::errc()) throw Unreadable{};
    at_ += static_cast<std::size_t>(stop - first);
    emit_constant(integer);
  }
  void function() {
    for (const Operator& entry : kFunctions) {
      const std::size_t here = at_;
      if (!accept_word(entry.text)) continue;
      if (!accept("(")) {
        at_ = here;
        continue;
      }
      std::size_t count = 0;
      do {
        any_of();
        ++count;
      } while (accept(","));
      expect(")");
      return emit(entry.function, count);
    }
    throw Unreadable{};
  }
  std::int64_t index() {
    skip_spaces();
    std::int64_t value = 0;
    const char* const first = text_.data() + at_;
    const auto [stop, error] =
        std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc()) throw Unreadable{};
    at_ += static_cast<std::size_t>(stop - first);
    return value;
  }
  LeafStep step() {
    skip_spaces();
    LeafStep made;
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '\'' || quote == '"') {
      const std::size_t end = text_.find(quote, at_ + 1);
      if (end == text_.npos) throw Unreadable{};
      made.key = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else {
      made.index = index();
    }
    expect("]");
    return made;
  }
  /// `L['name'][0].size()[1]`, or a constant `L['name']`.
  void reference() {
    expect("L");
    std::vector<LeafStep> way;
    while (accept("[")) way.push_back(step());
    GuardExpression::Reference made;
    if (accept(".size()[")) {
      made.axis = index();
      expect("]");
    } else if (at_ < text_.size() && text_[at_] == '.') {
      throw Unreadable{};
    }
    const auto leaf = leaves_.find(way);
    if (!leaf) throw Unreadable{};
    made.leaf = *leaf;
    guard_.steps_.push_back({.function = nullptr,
                             .operands = 0,
                             .reference = guard_.references_.size(),
                             .constant = {}});
    guard_.references_.push_back(made);
  }

  GuardExpression& guard_;
  std::string_view text_;
  const LeafLookup& leaves_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::optional<GuardExpression> GuardExpression::parse(
    std::string text, const LeafLookup& leaves) {
  GuardExpression guard;
  guard.text_ = std::move(text);
  try {
    GuardParser(guard, leaves).parse();
  } catch (const Unreadable&) {
    return std::nullopt;
  }
  return guard;
}

bool GuardExpression::holds(const Lookup& lookup) const {
  std::vector<c10::IValue> stack;
  stack.reserve(steps_.size());
  for (const Step& step : steps_) {
    if (step.reference) {
      stack.push_back(lookup(references_[*step.reference]));
    } else if (step.function == nullptr) {
      stack.push_back(step.constant);
    } else {
      const std::size_t first = stack.size() - step.operands;
      c10::IValue result = step.function(
          c10::ArrayRef<c10::IValue>(stack).slice(first, step.operands));
      stack.resize(first);
      stack.push_back(std::move(result));
    }
  }
  return is_true(stack.back());
}

}  // namespace modelrun::torch
