// SPDX-License-Identifier: Apache-2.0
#include "modelrun/dtype.h"

#include <array>
#include <bit>
#include <limits>
#include <string>

#include "modelrun/error.h"

namespace modelrun {
namespace {

struct Traits {
  std::string_view name;
  int bits;
};

constexpr std::array<Traits, 15> kTraits{{
    {"bool", 8},
    {"uint8", 8},
    {"uint16", 16},
    {"uint32", 32},
    {"uint64", 64},
    {"int8", 8},
    {"int16", 16},
    {"int32", 32},
    {"int64", 64},
    {"float16", 16},
    {"bfloat16", 16},
    {"float32", 32},
    {"float64", 64},
    {"uint4", 4},
    {"int4", 4},
}};

const Traits& traits(DType dtype) noexcept {
  return kTraits[static_cast<std::size_t>(dtype)];
}

// Drops the low `shift` bits of a significand, rounding to nearest even.
std::uint32_t round_shift(std::uint32_t value, int shift) noexcept {
  const std::uint32_t half = 1u << (shift - 1);
  const std::uint32_t odd = (value >> shift) & 1u;
  return (value + half - 1u + odd) >> shift;
}

}  // namespace

std::string_view name(DType dtype) noexcept { return traits(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "torch.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (std::size_t i = 0; i < kTraits.size(); ++i) {
    if (kTraits[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int bits(DType dtype) noexcept { return traits(dtype).bits; }

std::size_t byte_size(DType dtype, std::int64_t elements) {
  const auto width = static_cast<std::uint64_t>(bits(dtype));
  const auto count = static_cast<std::uint64_t>(elements);
  constexpr auto kMax =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (elements < 0 || count > (kMax - 7) / width) {
    throw InvalidArgument("a tensor of " + std::to_string(elements) + " " +
                          std::string(name(dtype)) +
                          " elements has no valid size");
  }
  return static_cast<std::size_t>((count * width + 7) / 8);
}

bool is_integer(DType dtype) noexcept {
  return dtype >= DType::uint8 && dtype <= DType::int64;
}

bool is_floating_point(DType dtype) noexcept {
  return dtype >= DType::float16 && dtype <= DType::float64;
}

Float16::Float16(float value) noexcept {
  const auto f = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((f >> 16) & 0x8000u);
  const std::uint32_t magnitude = f & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {
    half = round_shift(magnitude - 0x38000000u, 13);
  } else if (magnitude >= 0x33000000u) {
    const auto exponent = static_cast<int>(magnitude >> 23);
    half = round_shift((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent);
  }
  bits = static_cast<std::uint16_t>(sign | half);
}

Float16::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  std::uint32_t exponent = (bits >> 10) & 0x1fu;
  std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1fu) {
    return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  }
  if (exponent == 0) {
    if (fraction == 0) return std::bit_cast<float>(sign);
    exponent = 1;
    while ((fraction & 0x400u) == 0) {
      fraction <<= 1;
      --exponent;  // wraps below 1; the bias added next brings it back
    }
    fraction &= 0x3ffu;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) |
                              (fraction << 13));
}

BFloat16::BFloat16(float value) noexcept {
  const auto f = std::bit_cast<std::uint32_t>(value);
  const bool nan = (f & 0x7fffffffu) > 0x7f800000u;
  bits = static_cast<std::uint16_t>(
      nan ? (f >> 16) | 0x40u : (f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
}

BFloat16::operator float() const noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace modelrun
