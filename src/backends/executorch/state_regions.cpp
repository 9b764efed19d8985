// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/state_regions.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "backends/executorch/api.h"
#include "backends/executorch/program_fields.h"

namespace modelrun::executorch {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Failure(MODELRUN_BACKEND_ERROR,
                std::string("the program is damaged: ") + why);
}

/// What the first instruction that has a value does with it.
enum class Use : std::uint8_t { none, written, kept };

/// The uses of a method's values, in the order of its instructions.
class UseReader {
 public:
  explicit UseReader(const FlatTable& plan)
      : values_(plan.tables(field::kPlanValues)),
        operators_(plan.tables(field::kPlanOperators)),
        uses_(values_.size(), Use::none) {
    for (const FlatTable& chain : plan.tables(field::kPlanChains)) {
      for (const auto& each : chain.tables(field::kChainInstructions)) {
        read(each);
      }
    }
    // What a caller gives anew each time is none.
    for (const auto input : plan.integers(field::kPlanInputs)) {
      use(input) = Use::written;
    }
  }

  [[nodiscard]] std::vector<FlatTable> kept_tensors() const {
    std::vector<FlatTable> tensors;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (uses_[i] != Use::kept) continue;
      if (const auto tensor = content(i, field::kTensorValue)) {
        tensors.push_back(*tensor);
      }
    }
    return tensors;
  }

 private:
  void read(const FlatTable& instruction) {
    const auto call = instruction.table(field::kInstruction);
    if (!call) return;
    switch (instruction.number<std::uint8_t>(field::kInstructionKind, 0)) {
      case field::kKernelCall:
        return read_kernel(*call);
      case field::kDelegateCall:
        // What a delegate reads and what it writes look alike; it keeps none.
        for (const auto value : call->integers(field::kCallArguments)) {
          see(value, Use::written);
        }
        return;
      default:
        return;
    }
  }

  /// A kernel writes its last argument; where it writes several, that is the
  /// list of them.
  void read_kernel(const FlatTable& call) {
    const auto arguments = call.integers(field::kCallArguments);
    if (arguments.empty()) return;
    if (is_in_place(call)) use(arguments.front()) = Use::kept;
    const auto several = list_of(arguments.back());
    for (const auto value : arguments) {
      const bool is_written =
          value == arguments.back() ||
          std::find(several.begin(), several.end(), value) != several.end();
      see(value, is_written ? Use::written : Use::kept);
    }
  }

  /// As `aten::copy_`, which writes to its first argument.
  [[nodiscard]] bool is_in_place(const FlatTable& call) const {
    const auto number = call.number<std::int32_t>(field::kCalled, 0);
    if (number < 0 || static_cast<std::size_t>(number) >= operators_.size()) {
      refuse("it calls an operator that it does not list");
    }
    return operators_[static_cast<std::size_t>(number)]
        .text(field::kOperatorName)
        .ends_with('_');
  }

  [[nodiscard]] std::vector<std::int32_t> list_of(std::int32_t value) const {
    const auto list =
        content(static_cast<std::size_t>(value), field::kTensorListValue);
    return list ? list->integers(field::kListItems)
                : std::vector<std::int32_t>();
  }

  [[nodiscard]] std::optional<FlatTable> content(std::size_t value,
                                                 std::uint8_t kind) const {
    if (value >= values_.size()) return std::nullopt;
    const FlatTable& table = values_[value];
    if (table.number<std::uint8_t>(field::kValueKind, 0) != kind) {
      return std::nullopt;
    }
    return table.table(field::kValue);
  }

  void see(std::int32_t value, Use first) {
    Use& known = use(value);
    if (known == Use::none) known = first;
  }

  Use& use(std::int32_t value) {
    if (value < 0 || static_cast<std::size_t>(value) >= uses_.size()) {
      refuse("it uses a value that it does not list");
    }
    return uses_[static_cast<std::size_t>(value)];
  }

  std::vector<FlatTable> values_;
  std::vector<FlatTable> operators_;
  std::vector<Use> uses_;
};

std::size_t bytes_of(const FlatTable& tensor) {
  const auto type = static_cast<::executorch::aten::ScalarType>(
      tensor.number<std::int8_t>(field::kTensorType, 0));
  if (!et::isValid(type)) refuse("a tensor of it has no type");
  std::size_t bytes = et::elementSize(type);
  for (const auto size : tensor.integers(field::kTensorSizes)) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
      refuse("a tensor of it has an impossible size");
    }
  }
  return bytes;
}

/// Nothing for a tensor that is a constant, or whose memory is not planned.
std::optional<MemoryRegion> region_of(const FlatTable& tensor) {
  const auto memory = tensor.table(field::kTensorMemory);
  if (!memory) return std::nullopt;
  const auto low = memory->number<std::uint32_t>(field::kMemoryOffsetLow, 0);
  const std::uint64_t high =
      memory->number<std::uint32_t>(field::kMemoryOffsetHigh, 0);
  // Buffer 0 is not one of the planned ones.
  const auto buffer = memory->number<std::uint32_t>(field::kMemoryBuffer, 0);
  if (buffer == 0) return std::nullopt;
  return MemoryRegion{.buffer = buffer - 1U,
                      .offset = (high << 32U) | low,
                      .size = bytes_of(tensor)};
}

}  // namespace

std::vector<MemoryRegion> find_state(const FlatTable& plan) {
  std::vector<MemoryRegion> regions;
  for (const FlatTable& tensor : UseReader(plan).kept_tensors()) {
    const auto region = region_of(tensor);
    if (region && region->size > 0) regions.push_back(*region);
  }
  return regions;
}

}  // namespace modelrun::executorch
