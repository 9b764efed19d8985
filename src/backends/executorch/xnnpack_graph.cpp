// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/xnnpack_graph.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "backends/executorch/api.h"
#include "backends/executorch/flat_table.h"

namespace modelrun::executorch {
namespace {

using Bytes = std::span<const std::byte>;
using Numbers = std::vector<std::int32_t>;

// The numbers of the fields in backends/xnnpack/serialization/schema.fbs.
namespace field {
constexpr int kGraphVersion = 0, kGraphNodes = 1, kGraphValues = 2,
              kGraphInputs = 4, kGraphOutputs = 5, kGraphConstants = 8;
constexpr int kUnionKind = 0, kUnion = 1;
constexpr int kNodeRange = 3;
constexpr int kValueType = 0, kValueRank = 1, kValueDims = 2,
              kValueConstant = 3, kValueExternal = 4, kValueFlags = 5,
              kValueId = 6;
constexpr int kQuantizedValue = 0, kQuantKind = 1, kQuant = 2;
constexpr int kScales = 0, kScaleAxis = 1;
constexpr int kConstantOffset = 0, kConstantSize = 1, kConstantName = 2;
}  // namespace field

/// The kinds of node that have lists among their fields.
constexpr std::uint8_t kTranspose = 5, kPad = 10, kReshape = 20, kSlice = 35;
/// A node's other fields are numbers of four bytes, at most so many.
constexpr int kNodeFields = 20;

constexpr std::uint8_t kPlainValue = 1, kQuantizedValueKind = 2;
constexpr std::uint8_t kPerChannel = 1, kPerGroup = 4;

/// By XNNPACK's numbers of its types: the bits of an element.
constexpr std::array<std::uint8_t, 15> kTypeBits{0, 32, 16, 8, 8,  32, 8, 32,
                                                 4, 8,  4,  8, 32, 32, 16};

void require(bool is_right, const char* what) {
  if (is_right) return;
  throw Failure(
      MODELRUN_BACKEND_ERROR,
      std::string("the program is damaged: in its data for XNNPACK, ") + what);
}

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
  require(
      data.size() >= kHeader && std::memcmp(data.data() + 4, "XH00", 4) == 0,
      "there is no header");
  const std::size_t graph = read<std::uint32_t>(data, 10);
  const std::size_t graph_size = read<std::uint32_t>(data, 14);
  const std::size_t constants = read<std::uint32_t>(data, 18);
  const std::size_t constants_size = read<std::uint64_t>(data, 22);
  require(graph <= data.size() && graph_size <= data.size() - graph &&
              constants <= data.size() &&
              constants_size <= data.size() - constants,
          "the header leads outside of it");
  const Bytes bytes = data.subspan(graph, graph_size);
  require(bytes.size() >= 8 && (std::memcmp(bytes.data() + 4, "XN00", 4) == 0 ||
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
      require(graph_.has(part), "the graph lacks a part");
    }
    static_cast<void>(graph_.text(field::kGraphVersion));
    constants_ = graph_.tables(field::kGraphConstants);
  }

  void run() {
    for (const auto& value : graph_.tables(field::kGraphValues)) {
      check_value(value);
    }
    for (const auto& node : graph_.tables(field::kGraphNodes)) {
      check_node(node);
    }
    for (const int list : {field::kGraphInputs, field::kGraphOutputs}) {
      static_cast<void>(graph_.integers(list));
    }
  }

 private:
  void check_value(const FlatTable& value) {
    const auto kind = value.number<std::uint8_t>(field::kUnionKind, 0);
    const auto content = value.table(field::kUnion);
    require(content.has_value(), "a value has no content");
    if (kind == kPlainValue) return check_tensor(*content);
    require(kind == kQuantizedValueKind, "a value is of an unknown kind");
    const auto tensor = content->table(field::kQuantizedValue);
    require(tensor.has_value(), "a quantized value has no content");
    check_tensor(*tensor);
    check_scales(*content, tensor->integers(field::kValueDims));
  }

  void check_tensor(const FlatTable& tensor) {
    const auto dims = tensor.integers(field::kValueDims);
    const auto rank = tensor.number<std::uint32_t>(field::kValueRank, 0);
    require(tensor.has(field::kValueDims) && dims.size() == rank,
            "a value has another rank than it says");
    // The flags of inputs and outputs, which the caller gives.
    const auto flags = tensor.number<std::uint32_t>(field::kValueFlags, 0);
    const auto place = tensor.number<std::uint32_t>(field::kValueExternal, 0);
    require((flags & 3U) == 0 || place < surroundings_.arguments,
            "the graph has more inputs and outputs than it is called with");
    ranks_[tensor.number<std::uint32_t>(field::kValueId, 0)] = rank;
    const auto type = tensor.number<std::int16_t>(field::kValueType, 0);
    const auto constant =
        tensor.number<std::uint32_t>(field::kValueConstant, 0);
    if (constant == 0) return;
    require(type > 0 && static_cast<std::size_t>(type) < kTypeBits.size(),
            "a constant is of an unknown type");
    std::size_t bits = kTypeBits[static_cast<std::size_t>(type)];
    for (const auto size : dims) {
      require(!__builtin_mul_overflow(bits, static_cast<std::uint32_t>(size),
                                      &bits),
              "a constant has an impossible size");
    }
    require(bits / 8 <= constant_bytes(constant),
            "a constant is larger than its data");
  }

  /// The bytes that are there of a constant.
  std::size_t constant_bytes(std::uint32_t index) {
    require(index < constants_.size(), "a constant is not in the list");
    const FlatTable& constant = constants_[index];
    const std::string name = constant.text(field::kConstantName);
    if (!name.empty()) {
      const auto bytes = surroundings_.named_bytes(name);
      require(bytes.has_value(), "a constant's name is not in the program");
      return *bytes;
    }
    const auto offset =
        constant.number<std::uint64_t>(field::kConstantOffset, 0);
    const auto size = constant.number<std::uint64_t>(field::kConstantSize, 0);
    require(offset <= constant_bytes_ && size <= constant_bytes_ - offset,
            "a constant lies outside of its data");
    // What older exporters wrote has no sizes.
    return size != 0 ? size : constant_bytes_ - offset;
  }

  void check_scales(const FlatTable& value, const Numbers& dims) {
    const auto kind = value.number<std::uint8_t>(field::kQuantKind, 0);
    const auto quant = value.table(field::kQuant);
    require(kind == 0 || quant.has_value(), "a quantized value has no scale");
    if (!quant) return;
    if (kind != kPerChannel && kind != kPerGroup) {
      for (int i = 0; i < 2; ++i) static_cast<void>(quant->number<float>(i, 0));
      return;
    }
    const bool by_group = kind == kPerGroup;
    const auto axis = quant->number<std::int32_t>(field::kScaleAxis, 0);
    require(axis >= 0 && static_cast<std::size_t>(axis) < dims.size(),
            "the scales are along an axis that is not there");
    const auto buffer = quant->number<std::uint32_t>(by_group ? 4 : 2, 0);
    const auto count = quant->number<std::uint32_t>(by_group ? 5 : 3, 0);
    const std::size_t scales =
        buffer != 0 ? count : quant->integers(field::kScales).size();
    if (buffer != 0) {
      const std::size_t each = by_group ? 2 : 4;
      require(count <= constant_bytes(buffer) / each,
              "there are fewer scales than it says");
    }
    std::size_t needed = static_cast<std::uint32_t>(dims[axis]);
    if (by_group) needed *= groups_of(*quant, dims);
    require(needed <= scales, "there are fewer scales than channels");
  }

  static std::size_t groups_of(const FlatTable& quant, const Numbers& dims) {
    const auto size = quant.number<std::int32_t>(2, 0);
    require(size > 0 && dims.size() == 2,
            "the groups of scales are impossible");
    return static_cast<std::uint32_t>(dims[1]) /
           static_cast<std::uint32_t>(size);
  }

  void check_node(const FlatTable& node) {
    const auto content = node.table(field::kUnion);
    require(content.has_value(), "a node has no content");
    if (const auto range = node.table(field::kNodeRange)) {
      for (int i = 0; i < 2; ++i) static_cast<void>(range->number<float>(i, 0));
    }
    for (int i = 0; i < kNodeFields; ++i) {
      static_cast<void>(content->number<std::uint32_t>(i, 0));
    }
    switch (node.number<std::uint8_t>(field::kUnionKind, 0)) {
      case kTranspose:
      case kReshape:
        return check_lists(*content, {1}, content->number<std::uint32_t>(0, 0));
      case kSlice:
        return check_lists(*content, {1, 2},
                           content->number<std::uint32_t>(0, 0));
      case kPad:
        return check_lists(*content, {0, 1},
                           rank_of(content->number<std::uint32_t>(3, 0)));
      default:
        return;
    }
  }

  static void check_lists(const FlatTable& node,
                          std::initializer_list<int> lists, std::size_t rank) {
    for (const int list : lists) {
      require(node.has(list) && node.integers(list).size() >= rank,
              "a node has fewer numbers than axes");
    }
  }

  [[nodiscard]] std::size_t rank_of(std::uint32_t id) const {
    const auto found = ranks_.find(id);
    require(found != ranks_.end(), "a node uses a value that is not there");
    return found->second;
  }

  std::size_t constant_bytes_;
  const GraphSurroundings& surroundings_;
  FlatTable graph_;
  std::vector<FlatTable> constants_;
  std::map<std::uint32_t, std::size_t> ranks_;
};

}  // namespace

void check_xnnpack_graph(Bytes data, const GraphSurroundings& surroundings) {
  GraphCheck(split(data), surroundings).run();
}

}  // namespace modelrun::executorch
