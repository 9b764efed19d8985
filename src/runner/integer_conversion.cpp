// SPDX-License-Identifier: Apache-2.0
#include "runner/integer_conversion.h"

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "modelrun/error.h"

namespace modelrun {
namespace {

template <typename Visit>
void visit_integer_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::uint8:
      return visit(std::type_identity<std::uint8_t>{});
    case DType::uint16:
      return visit(std::type_identity<std::uint16_t>{});
    case DType::uint32:
      return visit(std::type_identity<std::uint32_t>{});
    case DType::uint64:
      return visit(std::type_identity<std::uint64_t>{});
    case DType::int8:
      return visit(std::type_identity<std::int8_t>{});
    case DType::int16:
      return visit(std::type_identity<std::int16_t>{});
    case DType::int32:
      return visit(std::type_identity<std::int32_t>{});
    default:
      return visit(std::type_identity<std::int64_t>{});
  }
}

template <typename From, typename To>
void convert(std::span<const From> from, std::span<To> to,
             const std::string& input) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!std::in_range<To>(from[i])) {
      throw InvalidArgument("input '" + input + "' holds " +
                            std::to_string(from[i]) + " at element " +
                            std::to_string(i) + ", which does not fit " +
                            std::string(name(dtype_of<To>)));
    }
    to[i] = static_cast<To>(from[i]);
  }
}

}  // namespace

Tensor convert_integers(const Tensor& tensor, DType dtype,
                        const std::string& input) {
  const Tensor source = tensor.contiguous();
  Tensor result = Tensor::empty(dtype, tensor.shape());
  visit_integer_type(
      tensor.dtype(), [&]<typename From>(std::type_identity<From>) {
        visit_integer_type(dtype, [&]<typename To>(std::type_identity<To>) {
          convert(source.data<const From>(), result.data<To>(), input);
        });
      });
  return result;
}

}  // namespace modelrun
