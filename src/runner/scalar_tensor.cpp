// SPDX-License-Identifier: Apache-2.0
#include "runner/scalar_tensor.h"

#include <cstdint>
#include <variant>

#include "runner/integer_conversion.h"

namespace modelrun {

Tensor scalar_tensor(const Scalar& scalar, DType dtype,
                     const std::string& input) {
  if (const auto* flag = std::get_if<bool>(&scalar)) {
    return dtype == DType::bool_ ? Tensor::scalar(*flag) : Tensor();
  }
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
    if (!is_integer(dtype)) return {};
    return convert_integers(Tensor::scalar(*integer), dtype, input);
  }
  const auto* number = std::get_if<double>(&scalar);
  if (number == nullptr) return {};
  if (dtype == DType::float64) return Tensor::scalar(*number);
  if (dtype != DType::float32) return {};
  return Tensor::scalar(static_cast<float>(*number));
}

}  // namespace modelrun
