// SPDX-License-Identifier: Apache-2.0
#include "artifact/rational.h"

#include <limits>
#include <numeric>

namespace modelrun {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// Refuses the lowest integer, so that every value has its negative.
std::optional<Rational> reduced(std::int64_t numerator,
                                std::int64_t denominator) noexcept {
  if (denominator == 0 || numerator == kMin || denominator == kMin) {
    return std::nullopt;
  }
  const std::int64_t divisor = std::gcd(numerator, denominator);
  const std::int64_t sign = denominator < 0 ? -1 : 1;
  return Rational{sign * numerator / divisor, sign * denominator / divisor};
}

}  // namespace

std::optional<Rational> add(Rational a, Rational b) noexcept {
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t sum = 0;
  std::int64_t denominator = 0;
  if (__builtin_mul_overflow(a.numerator, b.denominator, &left) ||
      __builtin_mul_overflow(b.numerator, a.denominator, &right) ||
      __builtin_add_overflow(left, right, &sum) ||
      __builtin_mul_overflow(a.denominator, b.denominator, &denominator)) {
    return std::nullopt;
  }
  return reduced(sum, denominator);
}

std::optional<Rational> multiply(Rational a, Rational b) noexcept {
  std::int64_t numerator = 0;
  std::int64_t denominator = 0;
  if (__builtin_mul_overflow(a.numerator, b.numerator, &numerator) ||
      __builtin_mul_overflow(a.denominator, b.denominator, &denominator)) {
    return std::nullopt;
  }
  return reduced(numerator, denominator);
}

std::optional<Rational> divide(Rational a, Rational b) noexcept {
  const auto inverse = reduced(b.denominator, b.numerator);
  return inverse ? multiply(a, *inverse) : std::nullopt;
}

std::int64_t floor(Rational a) noexcept {
  const std::int64_t quotient = a.numerator / a.denominator;
  return a.numerator % a.denominator < 0 ? quotient - 1 : quotient;
}

}  // namespace modelrun
