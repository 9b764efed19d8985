// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/scalar.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "backends/common/option_reader.h"
#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

template <typename T>
std::size_t write(T value, void* element) noexcept {
  std::memcpy(element, &value, sizeof(value));
  return sizeof(value);
}

bool agrees(const et::EValue& value, const nlohmann::json& given) {
  // The slot of a string, and of what the program does not use, takes none.
  if (value.isNone()) return true;
  if (value.isDouble()) {
    if (!given.is_number()) return false;
    const double expected = value.toDouble();
    const double difference = std::abs(given.get<double>() - expected);
    return difference <= 1e-6 * std::max(1.0, std::abs(expected));
  }
  return given == scalar_value(value);
}

}  // namespace

bool is_scalar(const et::EValue& value) noexcept {
  return value.isNone() || value.isBool() || value.isInt() ||
         value.isDouble() || value.isString();
}

nlohmann::json scalar_value(const et::EValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isString()) return std::string(value.toString());
  return nullptr;
}

DLDataType scalar_dtype(const et::EValue& value) noexcept {
  if (value.isInt()) return {kDLInt, 64, 1};
  if (value.isDouble()) return {kDLFloat, 64, 1};
  return {kDLBool, 8, 1};
}

std::size_t write_scalar(const et::EValue& value, void* element) noexcept {
  if (value.isInt()) return write<std::int64_t>(value.toInt(), element);
  if (value.isDouble()) return write<double>(value.toDouble(), element);
  return write<bool>(value.isBool() && value.toBool(), element);
}

void check_scalar(std::size_t position, const et::EValue& value,
                  const nlohmann::json& given) {
  if (agrees(value, given)) return;
  throw Failure(MODELRUN_INVALID_ARGUMENT,
                "executorch option 'in_constants': input '#" +
                    std::to_string(position) + "' cannot be " +
                    plugin::shown_json(given) +
                    ", the program was exported for " +
                    plugin::shown_json(scalar_value(value)));
}

}  // namespace modelrun::executorch
