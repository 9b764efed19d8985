// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "tensor_file/json_tensors.h"
#include "tensor_file/mapped_tensors.h"

namespace modelrun::detail {
namespace {

// What the leaves of a nested list are.
struct Leaves {
  std::size_t bools = 0;
  std::size_t integers = 0;
  std::size_t floats = 0;
  std::size_t others = 0;

  [[nodiscard]] bool is_tensor() const noexcept {
    return others == 0 && bools + integers + floats > 0;
  }
};

void count_leaves(const Json& value, Leaves& leaves) {
  if (value.is_array()) {
    for (const Json& item : value) count_leaves(item, leaves);
  } else if (value.is_boolean()) {
    ++leaves.bools;
  } else if (value.is_number_float()) {
    ++leaves.floats;
  } else if (value.is_number()) {
    ++leaves.integers;
  } else {
    ++leaves.others;
  }
}

template <typename T>
T element_of(const Json& value, const std::string& where) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) fail_json(where, "a bool", value);
    return value.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    // Kept by the parser as unsigned when it is not negative.
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<T>(value.get<std::uint64_t>())
                          : value.is_number_integer() &&
                                std::in_range<T>(value.get<std::int64_t>());
    if (!fits) {
      fail_json(where, "an integer that fits " + std::string(name(dtype_of<T>)),
                value);
    }
    return value.get<T>();
  } else {
    if (!value.is_number()) fail_json(where, "a number", value);
    const double wide = value.get<double>();
    const T element = [&] {
      if constexpr (std::is_same_v<T, double>)
        return wide;
      else
        return T(static_cast<float>(wide));
    }();
    bool became_infinite = false;
    if constexpr (!std::is_same_v<T, double>) {
      became_infinite =
          std::isfinite(wide) && !std::isfinite(static_cast<float>(element));
    }
    if (became_infinite) {
      fail_json(where, "a number that fits " + std::string(name(dtype_of<T>)),
                value);
    }
    return element;
  }
}

template <typename T>
void fill(Tensor& tensor, const std::vector<const Json*>& elements,
          const std::string& where) {
  T* out = static_cast<T*>(tensor.raw_data());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out[i] = element_of<T>(*elements[i], where);
  }
}

Tensor make_tensor(DType dtype, Shape shape,
                   const std::vector<const Json*>& elements,
                   const std::string& where) {
  Tensor tensor = Tensor::empty(dtype, std::move(shape));
  switch (dtype) {
    case DType::bool_:
      fill<bool>(tensor, elements, where);
      break;
    case DType::uint8:
      fill<std::uint8_t>(tensor, elements, where);
      break;
    case DType::uint16:
      fill<std::uint16_t>(tensor, elements, where);
      break;
    case DType::uint32:
      fill<std::uint32_t>(tensor, elements, where);
      break;
    case DType::uint64:
      fill<std::uint64_t>(tensor, elements, where);
      break;
    case DType::int8:
      fill<std::int8_t>(tensor, elements, where);
      break;
    case DType::int16:
      fill<std::int16_t>(tensor, elements, where);
      break;
    case DType::int32:
      fill<std::int32_t>(tensor, elements, where);
      break;
    case DType::int64:
      fill<std::int64_t>(tensor, elements, where);
      break;
    case DType::float16:
      fill<Float16>(tensor, elements, where);
      break;
    case DType::bfloat16:
      fill<BFloat16>(tensor, elements, where);
      break;
    case DType::float32:
      fill<float>(tensor, elements, where);
      break;
    case DType::float64:
      fill<double>(tensor, elements, where);
      break;
    case DType::uint4:
    case DType::int4:
      throw Unsupported(where + ": " + std::string(name(dtype)) +
                        " has no numbers in JSON: use .safetensors");
  }
  return tensor;
}

// The elements of a nested list in row-major order, when it is rectangular.
void collect(const Json& value, const std::vector<std::int64_t>& shape,
             std::size_t axis, const std::string& where,
             std::vector<const Json*>& elements) {
  const bool is_end = axis == shape.size();
  if (value.is_array() == is_end ||
      (!is_end && std::cmp_not_equal(value.size(), shape[axis]))) {
    throw InvalidArgument(where + ": expected lists of equal lengths, shape " +
                          to_string(Shape(shape)) +
                          " as the first ones have, got " + describe(value) +
                          " at axis " + std::to_string(axis));
  }
  if (is_end) {
    elements.push_back(&value);
    return;
  }
  for (const Json& item : value) {
    collect(item, shape, axis + 1, where, elements);
  }
}

Tensor tensor_of_list(const Json& list, const Leaves& leaves,
                      const std::string& where) {
  if (leaves.bools > 0 && leaves.integers + leaves.floats > 0) {
    throw InvalidArgument(where + ": expected numbers or bools, got both");
  }
  std::vector<std::int64_t> shape;
  const Json* first = &list;
  while (first->is_array()) {
    shape.push_back(static_cast<std::int64_t>(first->size()));
    if (first->empty()) break;
    first = &(*first)[0];
  }
  std::vector<const Json*> elements;
  collect(list, shape, 0, where, elements);
  const DType dtype = leaves.bools > 0    ? DType::bool_
                      : leaves.floats > 0 ? DType::float32
                                          : DType::int64;
  return make_tensor(dtype, Shape(shape), elements, where);
}

// {"dtype": ..., "shape": ..., "data": ...}
Tensor described_tensor(const Json::object_t& fields,
                        const std::string& where) {
  const Json& named = *json_find(fields, "dtype");
  const auto dtype = dtype_from_name(json_string(named, where + ": dtype"));
  if (!dtype) fail_json(where + ": dtype", "the name of a dtype", named);
  std::vector<std::int64_t> sizes;
  for (const Json& size :
       json_array(*json_find(fields, "shape"), where + ": shape")) {
    sizes.push_back(json_integer(size, where + ": shape"));
    if (sizes.back() < 0) fail_json(where + ": shape", "sizes", size);
  }
  Shape shape(sizes);
  const Json& data = *json_find(fields, "data");
  std::vector<const Json*> elements;
  for (const Json& item : json_array(data, where + ": data")) {
    elements.push_back(&item);
  }
  bool fits = false;
  try {
    fits = std::cmp_equal(shape.element_count(), elements.size());
  } catch (const InvalidArgument&) {
    // The product is past any list.
  }
  if (!fits) {
    fail_json(where + ": data",
              "a flat list of the elements of shape " + to_string(shape), data);
  }
  return make_tensor(*dtype, std::move(shape), elements, where + ": data");
}

Value value_of(const Json& value, const std::string& where);

Value value_of_object(const Json& value, const std::string& where) {
  const auto& fields = json_object(value, where);
  if (fields.size() == 3 && value.contains("dtype") &&
      value.contains("shape") && value.contains("data")) {
    return described_tensor(fields, where);
  }
  std::vector<std::pair<std::string, Value>> entries;
  for (const auto& [key, item] : fields) {
    entries.emplace_back(key, value_of(item, where + ": " + printable(key)));
  }
  return Value::mapping(std::move(entries));
}

Value value_of(const Json& value, const std::string& where) {
  if (value.is_object()) return value_of_object(value, where);
  if (!value.is_array()) return json_scalar(value, where);
  Leaves leaves;
  count_leaves(value, leaves);
  if (leaves.is_tensor()) return tensor_of_list(value, leaves, where);
  std::vector<Value> items;
  for (const Json& item : value) {
    items.push_back(
        value_of(item, where + "[" + std::to_string(items.size()) + "]"));
  }
  return Value::sequence(std::move(items));
}

}  // namespace

NamedValues load_json_tensors(const std::filesystem::path& path) {
  const auto file = MappedTensors::open(path);
  const std::string what = display(path);
  const Json content = parse_json(file->bytes(), what);
  NamedValues values;
  for (const auto& [name, value] : json_object(content, what)) {
    values.emplace_back(name, value_of(value, what + ": " + printable(name)));
  }
  return values;
}

}  // namespace modelrun::detail
