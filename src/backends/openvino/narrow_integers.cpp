// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/narrow_integers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "backends/common/failure.h"

namespace modelrun::openvino {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

template <typename T>
bool fits(T value) noexcept {
  return std::in_range<std::int32_t>(value);
}

/// No early end: so the compiler can look at several values at once.
template <typename T>
void check_values(const plugin::TensorView& view, const char* port) {
  const auto* values = static_cast<const T*>(view.data);
  const std::size_t count = view.bytes / sizeof(T);
  bool all_fit = true;
  for (std::size_t i = 0; i < count; ++i) all_fit &= fits(values[i]);
  if (all_fit) return;
  const T* wide = std::find_if_not(values, values + count, fits<T>);
  throw plugin::Failure(
      MODELRUN_INVALID_ARGUMENT,
      "'" + std::string(port) + "' holds " + std::to_string(*wide) +
          " at element " + std::to_string(wide - values) +
          ", but OpenVINO computes " + view.shown() +
          " as int32 on a CPU: expected values from " +
          std::to_string(-kMost - 1) + " to " + std::to_string(kMost));
}

}  // namespace

bool is_narrowed(const ov::element::Type& type) noexcept {
  return type == ov::element::i64 || type == ov::element::u64 ||
         type == ov::element::u32;
}

void check_narrow(const plugin::TensorView& view, const char* port) {
  if (view.dtype.bits == 32) return check_values<std::uint32_t>(view, port);
  if (view.dtype.code == kDLInt) return check_values<std::int64_t>(view, port);
  check_values<std::uint64_t>(view, port);
}

}  // namespace modelrun::openvino
