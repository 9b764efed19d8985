// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/scalar_function.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

using c10::IValue;
using Operands = c10::ArrayRef<IValue>;

const IValue& at_least(Operands operands, std::size_t index) {
  if (index >= operands.size()) {
    throw InvalidArgument("expected " + std::to_string(index + 1) +
                          " operands or more, got " +
                          std::to_string(operands.size()));
  }
  return operands[index];
}

[[noreturn]] void fail_overflow() {
  throw InvalidArgument("a size is past 64 bits");
}

/// A Python number; bools count as integers.
struct Number {
  bool is_float = false;
  std::int64_t integer = 0;
  double floating = 0;

  [[nodiscard]] double as_double() const {
    return is_float ? floating : static_cast<double>(integer);
  }
};

Number number(const IValue& value) {
  if (value.isInt()) return {.integer = value.toInt()};
  if (value.isBool()) return {.integer = value.toBool() ? 1 : 0};
  if (value.isDouble()) return {.is_float = true, .floating = value.toDouble()};
  throw InvalidArgument("expected a number, got " + value.tagKind());
}

Number number_at(Operands operands, std::size_t index) {
  return number(at_least(operands, index));
}

std::int64_t to_integer(double value) {
  // 2^63 is a double; all below it fit.
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit && value < kLimit)) fail_overflow();
  return static_cast<std::int64_t>(value);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) throw InvalidArgument("division by zero");
  if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) fail_overflow();
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

struct Add {
  static double of(double a, double b) { return a + b; }
  static bool of(std::int64_t a, std::int64_t b, std::int64_t* out) {
    return !__builtin_add_overflow(a, b, out);
  }
};
struct Subtract {
  static double of(double a, double b) { return a - b; }
  static bool of(std::int64_t a, std::int64_t b, std::int64_t* out) {
    return !__builtin_sub_overflow(a, b, out);
  }
};
struct Multiply {
  static double of(double a, double b) { return a * b; }
  static bool of(std::int64_t a, std::int64_t b, std::int64_t* out) {
    return !__builtin_mul_overflow(a, b, out);
  }
};
struct FloorDivide {
  static double of(double a, double b) {
    if (b == 0) throw InvalidArgument("division by zero");
    return std::floor(a / b);
  }
  static bool of(std::int64_t a, std::int64_t b, std::int64_t* out) {
    *out = floor_divide(a, b);
    return true;
  }
};
struct Modulo {
  static double of(double a, double b) {
    if (b == 0) throw InvalidArgument("division by zero");
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  static bool of(std::int64_t a, std::int64_t b, std::int64_t* out) {
    // The remainder is 0 where the quotient would not fit.
    *out = b == -1 ? 0 : a - floor_divide(a, b) * b;
    return true;
  }
};
struct Power {
  static double of(double a, double b) { return std::pow(a, b); }
  static bool of(std::int64_t a, std::int64_t b, std::int64_t* out) {
    *out = 1;
    // Past 64 steps only 0, 1 and -1 stay in range.
    if (b > 64 && a >= -1 && a <= 1) b = 2 - (b & 1);
    for (; b > 0; --b) {
      if (__builtin_mul_overflow(*out, a, out)) return false;
    }
    return true;
  }
};

template <typename Operation>
IValue arithmetic(Operands operands) {
  const Number a = number_at(operands, 0);
  const Number b = number_at(operands, 1);
  if (a.is_float || b.is_float) {
    return Operation::of(a.as_double(), b.as_double());
  }
  std::int64_t result = 0;
  if (!Operation::of(a.integer, b.integer, &result)) fail_overflow();
  return result;
}

IValue power(Operands operands) {
  const Number exponent = number_at(operands, 1);
  if (!exponent.is_float && exponent.integer < 0) {
    const double base = number_at(operands, 0).as_double();
    if (base == 0) throw InvalidArgument("division by zero");
    return std::pow(base, exponent.as_double());
  }
  return arithmetic<Power>(operands);
}

IValue true_divide(Operands operands) {
  const double divisor = number_at(operands, 1).as_double();
  if (divisor == 0) throw InvalidArgument("division by zero");
  return number_at(operands, 0).as_double() / divisor;
}

/// -1, 0, 1; 2 when either is no number.
int order(Number a, Number b) {
  if (!a.is_float && !b.is_float) {
    return a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
  }
  const double left = a.as_double();
  const double right = b.as_double();
  if (std::isnan(left) || std::isnan(right)) return 2;
  return left < right ? -1 : left > right ? 1 : 0;
}

int order(Operands operands) {
  return order(number_at(operands, 0), number_at(operands, 1));
}

bool equal(Operands operands) {
  const IValue& a = at_least(operands, 0);
  const IValue& b = at_least(operands, 1);
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  if (a.isString() || b.isString()) {
    return a.isString() && b.isString() && a.toStringRef() == b.toStringRef();
  }
  return order(operands) == 0;
}

IValue extreme(Operands operands, int wanted) {
  std::size_t best = 0;
  (void)number_at(operands, 0);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (order(number(operands[i]), number(operands[best])) == wanted) best = i;
  }
  return operands[best];
}

IValue sum(Operands operands) {
  IValue total = std::int64_t{0};
  for (const IValue& operand : operands) {
    total = arithmetic<Add>({total, operand});
  }
  return total;
}

IValue negative(Operands operands) {
  return arithmetic<Subtract>({IValue(std::int64_t{0}), at_least(operands, 0)});
}

IValue absolute(Operands operands) {
  const Number value = number_at(operands, 0);
  return value.as_double() < 0 ? negative(operands) : at_least(operands, 0);
}

template <double (*Round)(double)>
IValue rounded(Operands operands) {
  const Number value = number_at(operands, 0);
  if (!value.is_float) return value.integer;
  return to_integer(Round(value.floating));
}

IValue square_root(Operands operands) {
  return std::sqrt(number_at(operands, 0).as_double());
}

template <bool IsAnd>
IValue both(Operands operands) {
  const IValue& a = at_least(operands, 0);
  const IValue& b = at_least(operands, 1);
  if (a.isBool() && b.isBool()) {
    return IsAnd ? a.toBool() && b.toBool() : a.toBool() || b.toBool();
  }
  const std::int64_t left = number(a).integer;
  const std::int64_t right = number(b).integer;
  return IsAnd ? left & right : left | right;
}

template <bool Left>
IValue shifted(Operands operands) {
  const std::int64_t value = number_at(operands, 0).integer;
  const std::int64_t count = number_at(operands, 1).integer;
  if (count < 0 || count > 62) fail_overflow();
  if (!Left) return value >> count;
  return arithmetic<Multiply>(
      {IValue(value), IValue(std::int64_t{1} << count)});
}

const at::Tensor& tensor_at(Operands operands) {
  return at_least(operands, 0).toTensor();
}

IValue tensor_size(Operands operands) {
  return tensor_at(operands).size(number_at(operands, 1).integer);
}

IValue tensor_stride(Operands operands) {
  return tensor_at(operands).stride(number_at(operands, 1).integer);
}

IValue assert_scalar(Operands operands) {
  if (is_true(at_least(operands, 0))) return {};
  throw InvalidArgument(at_least(operands, 1).toStringRef());
}

struct Entry {
  std::string_view name;
  ScalarFunction function;
};

constexpr std::array kFunctions{
    Entry{"_operator.add", arithmetic<Add>},
    Entry{"_operator.sub", arithmetic<Subtract>},
    Entry{"_operator.mul", arithmetic<Multiply>},
    Entry{"_operator.floordiv", arithmetic<FloorDivide>},
    Entry{"_operator.truediv", true_divide},
    Entry{"_operator.mod", arithmetic<Modulo>},
    Entry{"_operator.pow", power},
    Entry{"_operator.neg", negative},
    Entry{"_operator.pos", first_operand},
    Entry{"_operator.eq", [](Operands o) -> IValue { return equal(o); }},
    Entry{"_operator.ne", [](Operands o) -> IValue { return !equal(o); }},
    Entry{"_operator.lt", [](Operands o) -> IValue { return order(o) == -1; }},
    Entry{"_operator.gt", [](Operands o) -> IValue { return order(o) == 1; }},
    Entry{"_operator.le",
          [](Operands o) -> IValue { return order(o) == -1 || order(o) == 0; }},
    Entry{"_operator.ge",
          [](Operands o) -> IValue { return order(o) == 1 || order(o) == 0; }},
    Entry{"_operator.and_", both<true>},
    Entry{"_operator.or_", both<false>},
    Entry{"_operator.lshift", shifted<true>},
    Entry{"_operator.rshift", shifted<false>},
    Entry{"torch.sym_max", [](Operands o) { return extreme(o, 1); }},
    Entry{"torch.sym_min", [](Operands o) { return extreme(o, -1); }},
    Entry{"torch.sym_sum", sum},
    Entry{"torch.sym_not",
          [](Operands o) -> IValue { return !is_true(at_least(o, 0)); }},
    Entry{"torch.sym_ite",
          [](Operands o) {
            return at_least(o, is_true(at_least(o, 0)) ? 1 : 2);
          }},
    Entry{"torch.sym_int", rounded<std::trunc>},
    Entry{"torch.sym_float",
          [](Operands o) -> IValue { return number_at(o, 0).as_double(); }},
    Entry{"torch.sym_sqrt", square_root},
    Entry{"torch._sym_sqrt", square_root},
    Entry{"math.sqrt", square_root},
    Entry{"math.trunc", rounded<std::trunc>},
    Entry{"math.floor", rounded<std::floor>},
    Entry{"math.ceil", rounded<std::ceil>},
    Entry{"builtins.abs", absolute},
    Entry{"torch.ops.aten.sym_size.int", tensor_size},
    Entry{"torch.ops.aten.sym_stride.int", tensor_stride},
    Entry{"torch.ops.aten.sym_numel.default",
          [](Operands o) -> IValue { return tensor_at(o).numel(); }},
    Entry{"torch.ops.aten.sym_storage_offset.default",
          [](Operands o) -> IValue { return tensor_at(o).storage_offset(); }},
    Entry{"torch.ops.aten._assert_scalar.default", assert_scalar},
};

}  // namespace

ScalarFunction find_scalar_function(std::string_view target) noexcept {
  for (const Entry& entry : kFunctions) {
    if (entry.name == target) return entry.function;
  }
  return nullptr;
}

IValue first_operand(Operands operands) { return at_least(operands, 0); }

bool is_true(const IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    return tensor.item().toBool();
  }
  const Number truth = number(value);
  return truth.is_float ? truth.floating != 0 : truth.integer != 0;
}

}  // namespace modelrun::torch
