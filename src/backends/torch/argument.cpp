// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/argument.h"

#include <ATen/core/jit_type.h>
#include <ATen/ops/scalar_tensor.h>

#include <array>
#include <limits>
#include <utility>

#include "artifact/printable.h"
#include "backends/torch/element_type.h"
#include "backends/torch/fields.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

using c10::IValue;
using c10::TypeKind;

constexpr std::int64_t kStridedLayout = 7;
/// More axes than any list of sizes has.
constexpr std::int32_t kMaxRepeat = 64;

[[noreturn]] void refuse_kind(const std::string& kind) {
  throw Unsupported("an argument of kind " + printable(kind) +
                    " cannot be run outside of Python");
}

double read_float(const Json& value) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "Infinity") return kInfinity;
    if (text == "-Infinity") return -kInfinity;
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  if (!value.is_number()) fail_json("as_float", "a number", value);
  return value.get<double>();
}

bool read_bool(const Json& value) {
  if (!value.is_boolean()) fail_json("as_bool", "true or false", value);
  return value.get<bool>();
}

IValue read_memory_format(const Json& value) {
  constexpr std::array kFormats{
      c10::MemoryFormat::Contiguous, c10::MemoryFormat::ChannelsLast,
      c10::MemoryFormat::ChannelsLast3d, c10::MemoryFormat::Preserve};
  const std::int64_t number = json_integer(value, "as_memory_format");
  if (number < 1 || number > static_cast<std::int64_t>(kFormats.size())) {
    fail_json("as_memory_format", "a number from 1 to 4", value);
  }
  return static_cast<std::int64_t>(
      kFormats[static_cast<std::size_t>(number - 1)]);
}

IValue read_layout(const Json& value) {
  if (json_integer(value, "as_layout") != kStridedLayout) {
    throw Unsupported("sparse tensors cannot be run; only strided ones");
  }
  return static_cast<std::int64_t>(c10::Layout::Strided);
}

IValue read_complex(const Json& value) {
  return c10::complex<double>(read_float(member(value, "real")),
                              read_float(member(value, "imag")));
}

/// One value of a kind that holds one.
std::optional<Element> read_single(const std::string& kind, const Json& value,
                                   const Slots& slots, c10::Device device) {
  const auto constant = [](IValue made) {
    return Element{kNoSlot, std::move(made)};
  };
  if (kind == "as_tensor")
    return Element{slots.use(text_of(value, "name")), {}};
  if (kind == "as_none") return Element{};
  if (kind == "as_int") return constant(json_integer(value, "as_int"));
  if (kind == "as_float") return constant(read_float(value));
  if (kind == "as_bool") return constant(read_bool(value));
  if (kind == "as_string") return constant(json_string(value, "as_string"));
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool" ||
      kind == "as_optional_tensor") {
    const auto [inner, held] = tagged(value, kind.c_str());
    if (inner == "as_name") {
      return Element{slots.use(json_string(held, "as_name")), {}};
    }
    if (inner == kind) refuse_kind(kind);
    return read_single(inner, held, slots, device);
  }
  if (kind == "as_scalar_type") {
    return constant(static_cast<std::int64_t>(
        recorded_type(json_integer(value, "as_scalar_type"))));
  }
  if (kind == "as_device") return constant(device);
  if (kind == "as_layout") return constant(read_layout(value));
  if (kind == "as_memory_format") return constant(read_memory_format(value));
  if (kind == "as_complex") return constant(read_complex(value));
  return std::nullopt;
}

/// What the items of a list kind are.
const char* item_kind(const std::string& kind) {
  if (kind == "as_ints") return "as_int";
  if (kind == "as_floats") return "as_float";
  if (kind == "as_bools") return "as_bool";
  if (kind == "as_strings") return "as_string";
  if (kind == "as_tensors") return "as_tensor";
  if (kind == "as_optional_tensors") return "as_optional_tensor";
  if (kind == "as_sym_ints") return "as_sym_int";
  if (kind == "as_sym_floats") return "as_sym_float";
  if (kind == "as_sym_bools") return "as_sym_bool";
  return nullptr;
}

c10::TypePtr unwrapped(const c10::TypePtr& type) {
  if (type->kind() != TypeKind::OptionalType) return type;
  return type->castRaw<c10::OptionalType>()->getElementType();
}

Argument::Kind list_kind(const c10::ListType& type) {
  const c10::TypePtr element = type.getElementType();
  switch (element->kind()) {
    case TypeKind::IntType:
      return Argument::Kind::ints;
    case TypeKind::FloatType:
      return Argument::Kind::floats;
    case TypeKind::BoolType:
      return Argument::Kind::bools;
    case TypeKind::TensorType:
      return Argument::Kind::tensors;
    case TypeKind::OptionalType:
      if (unwrapped(element)->kind() == TypeKind::TensorType) {
        return Argument::Kind::optional_tensors;
      }
      break;
    default:
      break;
  }
  throw Unsupported("a parameter of type " + type.str() + " cannot be given");
}

/// Lists without values of the run are made once.
Argument finished_list(Argument::Kind kind, std::vector<Element> elements) {
  Argument list{.kind = kind, .element = {}, .elements = std::move(elements)};
  if (kind == Argument::Kind::operands) return list;
  for (const Element& element : list.elements) {
    if (element.slot != kNoSlot) return list;
  }
  return {.kind = Argument::Kind::plain,
          .element = {kNoSlot, make_list(list, {})},
          .elements = {}};
}

/// Whether a parameter of this type takes the constant.
bool takes(TypeKind kind, const IValue& value) {
  switch (kind) {
    case TypeKind::TensorType:
      return value.isTensor();
    case TypeKind::IntType:
      return value.isInt();
    case TypeKind::FloatType:
      return value.isDouble();
    case TypeKind::BoolType:
      return value.isBool();
    case TypeKind::NumberType:
      return value.isScalar();
    case TypeKind::StringType:
      return value.isString();
    case TypeKind::DeviceObjType:
      return value.isDevice();
    default:
      return false;
  }
}

IValue converted(TypeKind kind, const IValue& value) {
  if (kind == TypeKind::TensorType) return number_as_tensor(value);
  if (kind == TypeKind::FloatType && value.isInt()) {
    return static_cast<double>(value.toInt());
  }
  if (kind == TypeKind::IntType && value.isBool()) {
    return static_cast<std::int64_t>(value.toBool());
  }
  if (kind == TypeKind::BoolType && value.isInt()) return value.toInt() != 0;
  return value;
}

Argument as_parameter(Element element, const c10::Argument& parameter) {
  const c10::TypePtr type = unwrapped(parameter.type());
  if (element.slot == kNoSlot && element.constant.isNone()) {
    if (parameter.type()->kind() != TypeKind::OptionalType) {
      throw InvalidArgument("a parameter of type " + parameter.type()->str() +
                            " takes no None");
    }
    return {};
  }
  if (type->kind() == TypeKind::ListType) {
    const auto count = parameter.N().value_or(1);
    if (count < 1 || count > kMaxRepeat) {
      throw InvalidArgument("one value for a list of " + std::to_string(count));
    }
    return finished_list(
        list_kind(type->expectRef<c10::ListType>()),
        std::vector<Element>(static_cast<std::size_t>(count), element));
  }
  Argument made;
  if (element.slot == kNoSlot) {
    element.constant = converted(type->kind(), element.constant);
    if (!takes(type->kind(), element.constant)) {
      throw InvalidArgument("a parameter of type " + type->str() +
                            " does not take a constant of type " +
                            element.constant.tagKind());
    }
  } else if (type->kind() == TypeKind::TensorType) {
    made.kind = Argument::Kind::tensor;
  } else if (type->kind() == TypeKind::FloatType) {
    made.kind = Argument::Kind::floating;
  }
  made.element = std::move(element);
  return made;
}

const IValue& value_of(const Element& element,
                       const std::vector<IValue>& values) {
  return element.slot == kNoSlot
             ? element.constant
             : values[static_cast<std::size_t>(element.slot)];
}

template <typename T, typename Convert>
IValue list_of_values(const Argument& argument,
                      const std::vector<IValue>& values, Convert convert) {
  c10::List<T> list;
  list.reserve(argument.elements.size());
  for (const Element& element : argument.elements) {
    list.push_back(convert(value_of(element, values)));
  }
  return list;
}

double double_of(const IValue& value) {
  return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
}

std::optional<at::Tensor> optional_tensor_of(const IValue& value) {
  if (value.isNone()) return std::nullopt;
  return value.toTensor();
}

}  // namespace

int Slots::define(const std::string& name) {
  const auto slot = static_cast<int>(count_++);
  names_[name] = slot;
  return slot;
}

int Slots::use(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) {
    throw InvalidArgument("it reads " + printable(name) +
                          ", which nothing before it makes");
  }
  return found->second;
}

Element read_element(const Json& argument, const Slots& slots,
                     c10::Device device) {
  const auto [kind, value] = tagged(argument, "argument");
  auto element = read_single(kind, value, slots, device);
  if (!element) refuse_kind(kind);
  return *std::move(element);
}

Argument read_argument(const Json& argument, const c10::Argument* parameter,
                       const Slots& slots, c10::Device device) {
  const auto [kind, value] = tagged(argument, "argument");
  const char* const item = item_kind(kind);
  if (item == nullptr) {
    Element element = read_element(argument, slots, device);
    if (parameter != nullptr) {
      return as_parameter(std::move(element), *parameter);
    }
    return {.kind = Argument::Kind::plain,
            .element = std::move(element),
            .elements = {}};
  }
  std::vector<Element> elements;
  for (const Json& entry : json_array(value, kind)) {
    const bool is_tensor = kind == "as_tensors";
    auto element =
        read_single(is_tensor ? "as_tensor" : item, entry, slots, device);
    if (!element) refuse_kind(kind);
    elements.push_back(*std::move(element));
  }
  if (parameter == nullptr) {
    return finished_list(Argument::Kind::operands, std::move(elements));
  }
  const c10::TypePtr type = unwrapped(parameter->type());
  if (type->kind() != TypeKind::ListType) {
    throw InvalidArgument("a parameter of type " + type->str() +
                          " takes no list");
  }
  return finished_list(list_kind(type->expectRef<c10::ListType>()),
                       std::move(elements));
}

IValue make_list(const Argument& argument, const std::vector<IValue>& values) {
  switch (argument.kind) {
    case Argument::Kind::ints:
      return list_of_values<std::int64_t>(
          argument, values, [](const IValue& value) { return value.toInt(); });
    case Argument::Kind::floats:
      return list_of_values<double>(argument, values, double_of);
    case Argument::Kind::bools:
      return list_of_values<bool>(
          argument, values, [](const IValue& value) { return value.toBool(); });
    case Argument::Kind::tensors:
      return list_of_values<at::Tensor>(
          argument, values,
          [](const IValue& value) { return value.toTensor(); });
    default:
      return list_of_values<std::optional<at::Tensor>>(argument, values,
                                                       optional_tensor_of);
  }
}

IValue number_as_tensor(const IValue& value) {
  const bool is_number = value.isInt() || value.isDouble() || value.isBool();
  if (!is_number) return value;
  at::Tensor tensor =
      at::scalar_tensor(value.toScalar(), value.isDouble() ? at::kDouble
                                          : value.isBool() ? at::kBool
                                                           : at::kLong);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace modelrun::torch
