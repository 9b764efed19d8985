// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace modelrun {

/// A fraction of 64-bit integers in lowest terms, its denominator positive.
struct Rational {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  friend constexpr bool operator==(const Rational&, const Rational&) = default;
};

// Each is nothing where the result does not fit, or divides by zero.
[[nodiscard]] std::optional<Rational> add(Rational a, Rational b) noexcept;
[[nodiscard]] std::optional<Rational> multiply(Rational a, Rational b) noexcept;
[[nodiscard]] std::optional<Rational> divide(Rational a, Rational b) noexcept;
/// The largest integer that is not above.
[[nodiscard]] std::int64_t floor(Rational a) noexcept;

}  // namespace modelrun
