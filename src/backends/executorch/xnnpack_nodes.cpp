// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/xnnpack_nodes.h"

#include <initializer_list>
#include <limits>
#include <string>

#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

// The numbers of the fields in backends/xnnpack/serialization/schema.fbs.
namespace field {
constexpr int kUnionKind = 0, kUnion = 1, kNodeRange = 3;
constexpr int kRank = 0, kPadInput = 3, kReshapeOutput = 3;
constexpr int kLinearFilter = 1, kLinearBias = 2, kLinearFlags = 4;
constexpr int kKernelHeight = 4, kKernelWidth = 5, kGroupInputs = 10,
              kGroupOutputs = 11, kGroups = 12, kFilter = 16, kBias = 17;
}  // namespace field

/// The kinds of node; those that are not here read one value or two.
constexpr std::uint8_t kLinear = 2, kTranspose = 5, kConvolution = 7,
                       kResize = 9, kPad = 10, kAveragePool = 11,
                       kDepthwise = 13, kMaximumPool = 14, kReshape = 20,
                       kMaximumPlace = 21, kLeaky = 25, kExponential = 29,
                       kJoin2 = 32, kJoin3 = 33, kJoin4 = 34, kSlice = 35,
                       kAttention = 36, kJoin5 = 38, kDeconvolution = 39,
                       kLast = 47;

/// A node's fields, those apart that are lists, are numbers of four bytes, at
/// most so many.
constexpr int kFields = 20;
constexpr std::uint32_t kNoValue = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kTransposed = 1;

std::uint32_t number(const FlatTable& node, int field) {
  return node.number<std::uint32_t>(field, 0);
}

const std::vector<std::int32_t>& dims_of(const GraphValues& values,
                                         std::uint32_t id) {
  const auto found = values.find(id);
  require_in_graph(found != values.end(),
                   "a node uses a value that is not there");
  return found->second.dims;
}

/// Which fields of a node are the numbers of values that it reads, and of those
/// that it writes: one bit for each field.
struct Connections {
  std::uint32_t reads = 0;
  std::uint32_t writes = 0;
};

constexpr std::uint32_t bits(std::initializer_list<int> fields) {
  std::uint32_t all = 0;
  for (const int field : fields) all |= 1U << static_cast<unsigned>(field);
  return all;
}

Connections connections_of(std::uint8_t kind) {
  switch (kind) {
    case kLinear:
      return {bits({0, 1, 2}), bits({3})};
    case kTranspose:
    case kReshape:
    case kResize:
      return {bits({2}), bits({3})};
    case kConvolution:
    case kDepthwise:
    case kDeconvolution:
      return {bits({15, 16, 17}), bits({18})};
    case kPad:
    case kSlice:
      return {bits({3}), bits({4})};
    case kAveragePool:
    case kMaximumPool:
      return {bits({10}), bits({11})};
    case kMaximumPlace:
      return {bits({7}), bits({8, 9})};
    case kLeaky:
    case kExponential:
      return {bits({1}), bits({2})};
    case kJoin2:
      return {bits({1, 2}), bits({5})};
    case kJoin3:
      return {bits({1, 2, 3}), bits({5})};
    case kJoin4:
      return {bits({1, 2, 3, 4}), bits({5})};
    case kJoin5:
      return {bits({1, 2, 3, 4, 7}), bits({5})};
    case kAttention:
      return {bits({0, 1, 2, 3, 4}), bits({5})};
    case 1:
    case 8:
    case 12:
    case 15:
    case 16:
    case 26:
    case 31:
    case 37:
      return {bits({0, 1}), bits({2})};
    default:
      return {bits({0}), bits({1})};
  }
}

void connect(std::uint8_t kind, const FlatTable& node, GraphValues& values) {
  const Connections fields = connections_of(kind);
  for (int i = 0; i < kFields; ++i) {
    const std::uint32_t bit = 1U << static_cast<unsigned>(i);
    const std::uint32_t id = number(node, i);
    const bool is_read = (fields.reads & bit) != 0;
    if ((!is_read && (fields.writes & bit) == 0) || id == kNoValue) continue;
    const auto found = values.find(id);
    require_in_graph(found != values.end(),
                     "a node uses a value that is not there");
    require_in_graph(found->second.is_there == is_read,
                     is_read ? "a node reads what no earlier one wrote"
                             : "a node writes what is there already");
    found->second.is_there = true;
  }
}

/// The product of sizes; refuses one that is 0 or overflows.
std::uint64_t product(std::initializer_list<std::uint64_t> sizes) {
  std::uint64_t all = 1;
  for (const auto size : sizes) {
    require_in_graph(size != 0 && !__builtin_mul_overflow(all, size, &all),
                     "a node has an impossible size");
  }
  return all;
}

std::uint64_t elements_of(const GraphValues& values, std::uint32_t id) {
  std::uint64_t all = 1;
  for (const auto size : dims_of(values, id)) {
    all = product({all, static_cast<std::uint32_t>(size)});
  }
  return all;
}

void check_bias(const GraphValues& values, std::uint32_t id,
                std::uint64_t channels) {
  if (id == kNoValue) return;
  require_in_graph(elements_of(values, id) == channels,
                   "a bias is not one number for each channel");
}

void check_lists(const FlatTable& node, std::initializer_list<int> lists,
                 std::size_t rank) {
  for (const int list : lists) {
    require_in_graph(node.has(list) && node.integers(list).size() >= rank,
                     "a node has fewer numbers than axes");
  }
}

void check_linear(const FlatTable& node, const GraphValues& values) {
  const auto& filter = dims_of(values, number(node, field::kLinearFilter));
  require_in_graph(filter.size() == 2, "a filter is no matrix");
  const bool is_transposed =
      (number(node, field::kLinearFlags) & kTransposed) != 0;
  check_bias(values, number(node, field::kLinearBias),
             static_cast<std::uint32_t>(filter[is_transposed ? 1 : 0]));
}

void check_convolution(const FlatTable& node, const GraphValues& values,
                       bool is_depthwise) {
  const std::uint64_t groups = number(node, field::kGroups);
  const std::uint64_t inputs = number(node, field::kGroupInputs);
  const std::uint64_t outputs = number(node, field::kGroupOutputs);
  const std::uint64_t kernel = product(
      {number(node, field::kKernelHeight), number(node, field::kKernelWidth)});
  const std::uint64_t channels = product({groups, outputs});
  // Where it is depthwise, each input has filters of its own.
  require_in_graph(inputs != 0 && (!is_depthwise || outputs % inputs == 0),
                   "a node has an impossible size");
  const std::uint64_t expected =
      is_depthwise ? product({kernel, groups, outputs / inputs})
                   : product({kernel, channels, inputs});
  require_in_graph(
      elements_of(values, number(node, field::kFilter)) == expected,
      "a filter is of another size than its node");
  check_bias(values, number(node, field::kBias), channels);
}

/// What is asked for here, XNNPACK allocates.
void check_reshape(const FlatTable& node, const GraphValues& values) {
  check_lists(node, {1}, number(node, field::kRank));
  std::uint64_t asked = 1;
  for (const auto size : node.integers(1)) {
    // A size that follows from the others.
    if (size != 0) asked = product({asked, static_cast<std::uint32_t>(size)});
  }
  require_in_graph(
      asked <= elements_of(values, number(node, field::kReshapeOutput)),
      "a reshape has more elements than its output");
}

void check_content(std::uint8_t kind, const FlatTable& node,
                   const GraphValues& values) {
  switch (kind) {
    case kLinear:
      return check_linear(node, values);
    case kConvolution:
    case kDepthwise:
    case kDeconvolution:
      return check_convolution(node, values, kind == kDepthwise);
    case kTranspose:
      return check_lists(node, {1}, number(node, field::kRank));
    case kReshape:
      return check_reshape(node, values);
    case kSlice:
      return check_lists(node, {1, 2}, number(node, field::kRank));
    case kPad:
      return check_lists(
          node, {0, 1}, dims_of(values, number(node, field::kPadInput)).size());
    default:
      return;
  }
}

}  // namespace

void require_in_graph(bool is_right, const char* what) {
  if (is_right) return;
  throw Failure(
      MODELRUN_BACKEND_ERROR,
      std::string("the program is damaged: in its data for XNNPACK, ") + what);
}

void check_xnnpack_node(const FlatTable& node, GraphValues& values) {
  const auto content = node.table(field::kUnion);
  const auto kind = node.number<std::uint8_t>(field::kUnionKind, 0);
  require_in_graph(content.has_value() && kind > 0 && kind <= kLast,
                   "a node is of an unknown kind");
  if (const auto range = node.table(field::kNodeRange)) {
    for (int i = 0; i < 2; ++i) static_cast<void>(range->number<float>(i, 0));
  }
  for (int i = 0; i < kFields; ++i) static_cast<void>(number(*content, i));
  connect(kind, *content, values);
  check_content(kind, *content, values);
}

}  // namespace modelrun::executorch
