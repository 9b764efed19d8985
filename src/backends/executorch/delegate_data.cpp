// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/delegate_data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/executorch/api.h"
#include "backends/executorch/program_fields.h"
#include "backends/executorch/xnnpack_graph.h"

namespace modelrun::executorch {
namespace {

using Bytes = DelegateData::Bytes;

[[noreturn]] void refuse(const std::string& why) {
  throw Failure(MODELRUN_BACKEND_ERROR, "the program is damaged: " + why);
}

/// From the header that follows a file's first offset and identifier; 0 for a
/// file without one, which has no segments.
std::uint64_t segments_start(Bytes file) {
  constexpr std::size_t kMagic = 8, kStart = 24;
  std::uint64_t start = 0;
  if (file.size() < kStart + sizeof start ||
      std::memcmp(file.data() + kMagic, "eh00", 4) != 0) {
    return 0;
  }
  std::memcpy(&start, file.data() + kStart, sizeof start);
  return start;
}

using Flags = std::vector<bool>;

/// For each delegate, of the arguments that all of its calls have, whether one
/// of them is a constant.
std::vector<Flags> constant_arguments(const FlatTable& plan,
                                      std::size_t delegates) {
  const auto values = plan.tables(field::kPlanValues);
  // One that is never called is given nothing.
  std::vector<std::optional<Flags>> found(delegates);
  const auto add_call = [&](const FlatTable& call) {
    const auto index = call.number<std::uint32_t>(field::kCalled, 0);
    if (index >= delegates) refuse("it calls a delegate that is not there");
    const auto arguments = call.integers(field::kCallArguments);
    Flags& flags = found[index] ? *found[index]
                                : found[index].emplace(arguments.size(), false);
    flags.resize(std::min(flags.size(), arguments.size()));
    for (std::size_t i = 0; i < flags.size(); ++i) {
      const auto value = static_cast<std::size_t>(arguments[i]);
      if (value >= values.size()) refuse("it uses a value that is not there");
      flags[i] = flags[i] || is_constant(values[value]);
    }
  };
  for (const FlatTable& chain : plan.tables(field::kPlanChains)) {
    for (const auto& each : chain.tables(field::kChainInstructions)) {
      const auto kind = each.number<std::uint8_t>(field::kInstructionKind, 0);
      const auto call = each.table(field::kInstruction);
      if (kind == field::kDelegateCall && call) add_call(*call);
    }
  }
  std::vector<Flags> all;
  for (auto& flags : found) all.push_back(std::move(flags).value_or(Flags()));
  return all;
}

}  // namespace

bool is_constant(const FlatTable& value) {
  const auto kind = value.number<std::uint8_t>(field::kValueKind, 0);
  const auto tensor = value.table(field::kValue);
  return kind == field::kTensorValue && tensor &&
         tensor->number<std::uint32_t>(field::kTensorConstant, 0) != 0 &&
         !tensor->has(field::kTensorMemory);
}

DelegateData::DelegateData(Bytes file)
    : file_(file), segments_start_(segments_start(file)) {
  const FlatTable program = FlatTable::root(file);
  inline_data_ = program.tables(field::kProgramInlineData);
  segments_ = program.tables(field::kProgramSegments);
  named_ = program.tables(field::kProgramNamedData);
}

Bytes DelegateData::of(const FlatTable& delegate) const {
  const auto reference = delegate.table(field::kDelegateData);
  if (!reference) refuse("a delegate has no data");
  const auto index = reference->number<std::uint32_t>(field::kDataIndex, 0);
  const auto place = reference->number<std::int8_t>(field::kDataPlace, 0);
  if (place == field::kDataInSegment) return segment(index);
  if (place != field::kDataInline || index >= inline_data_.size()) {
    refuse("a delegate's data is not there");
  }
  return inline_data_[index].bytes(field::kInlineData);
}

Bytes DelegateData::segment(std::uint32_t index) const {
  if (index >= segments_.size()) refuse("a segment is not there");
  const FlatTable& entry = segments_[index];
  const auto offset = entry.number<std::uint64_t>(field::kSegmentOffset, 0);
  const auto size = entry.number<std::uint64_t>(field::kSegmentSize, 0);
  std::uint64_t start = 0;
  if (__builtin_add_overflow(segments_start_, offset, &start) ||
      start > file_.size() || size > file_.size() - start) {
    refuse("a segment lies outside of the file");
  }
  return file_.subspan(start, size);
}

std::optional<std::size_t> DelegateData::named_bytes(
    const std::string& name) const {
  for (const FlatTable& each : named_) {
    if (each.text(field::kNamedKey) != name) continue;
    return segment(each.number<std::uint32_t>(field::kNamedSegment, 0)).size();
  }
  return std::nullopt;
}

void check_delegates(const FlatTable& plan, const DelegateData& data) {
  const auto delegates = plan.tables(field::kPlanDelegates);
  auto arguments = constant_arguments(plan, delegates.size());
  for (std::size_t i = 0; i < delegates.size(); ++i) {
    const Bytes bytes = data.of(delegates[i]);
    if (delegates[i].text(field::kDelegateId) != "XnnpackBackend") continue;
    check_xnnpack_graph(bytes, {.constant_arguments = std::move(arguments[i]),
                                .named_bytes = [&](const std::string& name) {
                                  return data.named_bytes(name);
                                }});
  }
}

}  // namespace modelrun::executorch
