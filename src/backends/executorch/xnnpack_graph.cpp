// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/xnnpack_graph.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "backends/executorch/api.h"
#include "backends/executorch/flat_table.h"
#include "backends/executorch/xnnpack_nodes.h"

namespace modelrun::executorch {
namespace {

using Bytes = std::span<const std::byte>;
using Numbers = std::vector<std::int32_t>;

// The numbers of the fields in backends/xnnpack/serialization/schema.fbs.
namespace field {
constexpr int kGraphVersion = 0, kGraphNodes = 1, kGraphValues = 2,
              kGraphInputs = 4, kGraphOutputs = 5, kGraphConstants = 8;
constexpr int kUnionKind = 0, kUnion = 1;
constexpr int kValueType = 0, kValueRank = 1, kValueDims = 2,
              kValueConstant = 3, kValueExternal = 4, kValueFlags = 5,
              kValueId = 6;
constexpr int kQuantizedValue = 0, kQuantKind = 1, kQuant = 2;
constexpr int kScales = 0, kScaleAxis = 1;
constexpr int kConstantOffset = 0, kConstantSize = 1, kConstantName = 2;
}  // namespace field

/// The flags of a value that the caller gives.
constexpr std::uint32_t kInput = 1, kInputOrOutput = 3;

constexpr std::uint8_t kPlainValue = 1, kQuantizedValueKind = 2;
constexpr std::uint8_t kPerChannel = 1, kPerGroup = 4;

/// By XNNPACK's numbers of its types: the bits of an element.
constexpr std::array<std::uint8_t, 15> kTypeBits{0, 32, 16, 8, 8,  32, 8, 32,
                                                 4, 8,  4,  8, 32, 32, 16};

template <typename T>
T read(Bytes data, std::size_t at) {
  T value;
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

/// The parts of the data, as its header has them.
struct Parts {
  Bytes graph;
  std::size_t constant_bytes = 0;
};

Parts split(Bytes data) {
  constexpr std::size_t kHeader = 30;
  require_in_graph(
      data.size() >= kHeader && std::memcmp(data.data() + 4, "XH00", 4) == 0,
      "there is no header");
  const std::size_t graph = read<std::uint32_t>(data, 10);
  const std::size_t graph_size = read<std::uint32_t>(data, 14);
  const std::size_t constants = read<std::uint32_t>(data, 18);
  const std::size_t constants_size = read<std::uint64_t>(data, 22);
  require_in_graph(graph <= data.size() && graph_size <= data.size() - graph &&
                       constants <= data.size() &&
                       constants_size <= data.size() - constants,
                   "the header leads outside of it");
  const Bytes bytes = data.subspan(graph, graph_size);
  require_in_graph(
      bytes.size() >= 8 && (std::memcmp(bytes.data() + 4, "XN00", 4) == 0 ||
                            std::memcmp(bytes.data() + 4, "XN01", 4) == 0),
      "the graph is of another schema");
  return {bytes, constants_size};
}

class GraphCheck {
 public:
  GraphCheck(const Parts& parts, const GraphSurroundings& surroundings)
      : constant_bytes_(parts.constant_bytes),
        surroundings_(surroundings),
        graph_(FlatTable::root(parts.graph)) {
    for (const int part : {field::kGraphNodes, field::kGraphValues,
                           field::kGraphInputs, field::kGraphOutputs}) {
      require_in_graph(graph_.has(part), "the graph lacks a part");
    }
    static_cast<void>(graph_.text(field::kGraphVersion));
    constants_ = graph_.tables(field::kGraphConstants);
  }

  void run() {
    for (const auto& value : graph_.tables(field::kGraphValues)) {
      check_value(value);
    }
    for (const auto& node : graph_.tables(field::kGraphNodes)) {
      check_xnnpack_node(node, values_);
    }
    for (const int list : {field::kGraphInputs, field::kGraphOutputs}) {
      static_cast<void>(graph_.integers(list));
    }
  }

 private:
  void check_value(const FlatTable& value) {
    const auto kind = value.number<std::uint8_t>(field::kUnionKind, 0);
    const auto content = value.table(field::kUnion);
    require_in_graph(content.has_value(), "a value has no content");
    if (kind == kPlainValue) return check_tensor(*content);
    require_in_graph(kind == kQuantizedValueKind,
                     "a value is of an unknown kind");
    const auto tensor = content->table(field::kQuantizedValue);
    require_in_graph(tensor.has_value(), "a quantized value has no content");
    check_tensor(*tensor);
    check_scales(*content, tensor->integers(field::kValueDims));
  }

  void check_tensor(const FlatTable& tensor) {
    const auto dims = tensor.integers(field::kValueDims);
    const auto rank = tensor.number<std::uint32_t>(field::kValueRank, 0);
    require_in_graph(tensor.has(field::kValueDims) && dims.size() == rank,
                     "a value has another rank than it says");
    const auto flags = tensor.number<std::uint32_t>(field::kValueFlags, 0);
    check_place(flags, tensor.number<std::uint32_t>(field::kValueExternal, 0));
    const auto constant =
        tensor.number<std::uint32_t>(field::kValueConstant, 0);
    const bool is_new =
        values_
            .try_emplace(
                tensor.number<std::uint32_t>(field::kValueId, 0),
                GraphValue{dims, constant != 0 || (flags & kInput) != 0})
            .second;
    require_in_graph(is_new, "two values have one number");
    if (constant != 0) {
      check_constant(tensor.number<std::int16_t>(field::kValueType, 0), dims,
                     constant);
    }
  }

  /// An input or output has a place of its own among the arguments of a call;
  /// no other value has one.
  void check_place(std::uint32_t flags, std::uint32_t place) {
    constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
    const bool is_given = (flags & kInputOrOutput) != 0;
    require_in_graph(is_given == (place != kNone),
                     "a value is given by the caller, and is not");
    if (!is_given) return;
    require_in_graph(
        place < surroundings_.constant_arguments.size(),
        "the graph has more inputs and outputs than it is called with");
    require_in_graph((flags & kInputOrOutput) == kInput ||
                         !surroundings_.constant_arguments[place],
                     "the graph writes to a constant");
    require_in_graph(places_.insert(place).second,
                     "two values have one place in a call");
  }

  void check_constant(std::int16_t type, const Numbers& dims,
                      std::uint32_t index) {
    require_in_graph(
        type > 0 && static_cast<std::size_t>(type) < kTypeBits.size(),
        "a constant is of an unknown type");
    std::size_t bits = kTypeBits[static_cast<std::size_t>(type)];
    for (const auto size : dims) {
      require_in_graph(!__builtin_mul_overflow(
                           bits, static_cast<std::uint32_t>(size), &bits),
                       "a constant has an impossible size");
    }
    require_in_graph(bits / 8 <= constant_bytes(index),
                     "a constant is larger than its data");
  }

  /// The bytes that are there of a constant.
  std::size_t constant_bytes(std::uint32_t index) {
    require_in_graph(index < constants_.size(),
                     "a constant is not in the list");
    const FlatTable& constant = constants_[index];
    const std::string name = constant.text(field::kConstantName);
    if (!name.empty()) {
      const auto bytes = surroundings_.named_bytes(name);
      require_in_graph(bytes.has_value(),
                       "a constant's name is not in the program");
      return *bytes;
    }
    const auto offset =
        constant.number<std::uint64_t>(field::kConstantOffset, 0);
    const auto size = constant.number<std::uint64_t>(field::kConstantSize, 0);
    require_in_graph(
        offset <= constant_bytes_ && size <= constant_bytes_ - offset,
        "a constant lies outside of its data");
    // What older exporters wrote has no sizes.
    return size != 0 ? size : constant_bytes_ - offset;
  }

  void check_scales(const FlatTable& value, const Numbers& dims) {
    const auto kind = value.number<std::uint8_t>(field::kQuantKind, 0);
    const auto quant = value.table(field::kQuant);
    require_in_graph(kind == 0 || quant.has_value(),
                     "a quantized value has no scale");
    if (!quant) return;
    if (kind != kPerChannel && kind != kPerGroup) {
      for (int i = 0; i < 2; ++i) static_cast<void>(quant->number<float>(i, 0));
      return;
    }
    const bool by_group = kind == kPerGroup;
    const auto axis = quant->number<std::int32_t>(field::kScaleAxis, 0);
    require_in_graph(axis >= 0 && static_cast<std::size_t>(axis) < dims.size(),
                     "the scales are along an axis that is not there");
    const auto buffer = quant->number<std::uint32_t>(by_group ? 4 : 2, 0);
    const auto count = quant->number<std::uint32_t>(by_group ? 5 : 3, 0);
    const std::size_t scales =
        buffer != 0 ? count : quant->integers(field::kScales).size();
    if (buffer != 0) {
      const std::size_t each = by_group ? 2 : 4;
      require_in_graph(count <= constant_bytes(buffer) / each,
                       "there are fewer scales than it says");
    }
    std::size_t needed = static_cast<std::uint32_t>(dims[axis]);
    if (by_group) needed *= groups_of(*quant, dims);
    require_in_graph(needed <= scales, "there are fewer scales than channels");
  }

  static std::size_t groups_of(const FlatTable& quant, const Numbers& dims) {
    const auto size = quant.number<std::int32_t>(2, 0);
    require_in_graph(size > 0 && dims.size() == 2,
                     "the groups of scales are impossible");
    return static_cast<std::uint32_t>(dims[1]) /
           static_cast<std::uint32_t>(size);
  }

  std::size_t constant_bytes_;
  const GraphSurroundings& surroundings_;
  FlatTable graph_;
  std::vector<FlatTable> constants_;
  GraphValues values_;
  std::set<std::uint32_t> places_;
};

}  // namespace

void check_xnnpack_graph(Bytes data, const GraphSurroundings& surroundings) {
  GraphCheck(split(data), surroundings).run();
}

}  // namespace modelrun::executorch
