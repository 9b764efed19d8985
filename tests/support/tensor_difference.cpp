// SPDX-License-Identifier: Apache-2.0
#include "support/tensor_difference.h"

#include <cmath>
#include <stdexcept>

namespace modelrun::testing {
namespace {

template <typename T>
std::vector<double> convert(const Tensor& tensor) {
  std::vector<double> values;
  for (const T& value : tensor.data<const T>()) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      values.push_back(static_cast<float>(value));
    } else {
      values.push_back(static_cast<double>(value));
    }
  }
  return values;
}

}  // namespace

std::vector<double> as_doubles(const Tensor& strided) {
  const Tensor tensor = strided.contiguous();
  switch (tensor.dtype()) {
    case DType::bool_:
      return convert<bool>(tensor);
    case DType::uint8:
      return convert<std::uint8_t>(tensor);
    case DType::int8:
      return convert<std::int8_t>(tensor);
    case DType::int32:
      return convert<std::int32_t>(tensor);
    case DType::int64:
      return convert<std::int64_t>(tensor);
    case DType::float16:
      return convert<Float16>(tensor);
    case DType::bfloat16:
      return convert<BFloat16>(tensor);
    case DType::float32:
      return convert<float>(tensor);
    case DType::float64:
      return convert<double>(tensor);
    default:
      throw std::runtime_error("no doubles of " + to_string(tensor));
  }
}

std::string tensor_difference(const Tensor& actual, const Tensor& expected,
                              double tolerance) {
  if (actual.dtype() != expected.dtype() ||
      !(actual.shape() == expected.shape())) {
    return "expected " + to_string(expected) + ", got " + to_string(actual);
  }
  if (!is_floating_point(expected.dtype())) {
    return equal(actual, expected) ? "" : "the elements are not the same";
  }
  const std::vector<double> a = as_doubles(actual);
  const std::vector<double> b = as_doubles(expected);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::abs(a[i] - b[i]) <= tolerance) continue;
    return "element " + std::to_string(i) + " of " + to_string(expected) +
           " is " + std::to_string(a[i]) + ", expected " +
           std::to_string(b[i]) + " within " + std::to_string(tolerance);
  }
  return "";
}

}  // namespace modelrun::testing
