// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/expression.h"

#include <cctype>
#include <optional>
#include <vector>

namespace modelrun::torch {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxText = 200;

/// Text with the binding strength of its outermost operator: 0 a sum, 1 a
/// product, 2 what needs no parentheses.
struct Part {
  std::string text;
  int strength = 2;
};

std::string within(const Part& part, int strength) {
  return part.strength < strength ? "(" + part.text + ")" : part.text;
}

/// SymPy's constructor calls.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<std::string> parse() {
    auto part = call(0);
    if (!part || at_ != text_.size()) return std::nullopt;
    return std::move(part->text);
  }

 private:
  bool accept(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::size_t first = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
            text_[at_] == '_' || text_[at_] == '-')) {
      ++at_;
    }
    return text_.substr(first, at_ - first);
  }
  /// `'s36', positive=True, integer=True)`
  std::optional<Part> symbol() {
    if (!accept('\'')) return std::nullopt;
    const std::string_view name = word();
    const std::size_t end = text_.find(')', at_);
    if (name.empty() || !accept('\'') || end == text_.npos) return std::nullopt;
    at_ = end + 1;
    return Part{std::string(name), 2};
  }
  std::optional<Part> call(int depth) {
    const std::string_view name = word();
    if (name.empty() || depth > kMaxDepth || !accept('(')) return std::nullopt;
    if (name == "Symbol") return symbol();
    if (name == "Integer") {
      const std::string_view digits = word();
      if (digits.empty() || !accept(')')) return std::nullopt;
      return Part{std::string(digits), digits.front() == '-' ? 0 : 2};
    }
    std::vector<Part> parts;
    do {
      auto part = call(depth + 1);
      if (!part) return std::nullopt;
      parts.push_back(*std::move(part));
    } while (accept(','));
    if (!accept(')')) return std::nullopt;
    return combined(name, parts);
  }
  static Part joined(const std::vector<Part>& parts, const char* separator,
                     int strength) {
    Part whole{"", strength};
    for (const Part& part : parts) {
      whole.text.append(whole.text.empty() ? "" : separator)
          .append(within(part, strength == 2 ? 0 : strength));
    }
    return whole;
  }
  static Part combined(std::string_view name, const std::vector<Part>& parts) {
    if (name == "Add") return joined(parts, " + ", 0);
    if (name == "Mul") return joined(parts, "*", 1);
    if (parts.size() == 2 && (name == "FloorDiv" || name == "CleanDiv")) {
      return {within(parts[0], 2) + "//" + within(parts[1], 2), 1};
    }
    if (parts.size() == 2 && (name == "Mod" || name == "PythonMod")) {
      return {within(parts[0], 2) + " % " + within(parts[1], 2), 1};
    }
    Part whole = joined(parts, ", ", 2);
    whole.text = std::string(name) + "(" + whole.text + ")";
    return whole;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string readable_expression(std::string_view text) {
  if (auto readable = Parser(text).parse()) return *std::move(readable);
  return std::string(text.substr(0, kMaxText));
}

}  // namespace modelrun::torch
