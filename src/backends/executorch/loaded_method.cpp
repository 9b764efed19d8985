// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/loaded_method.h"

#include <cstring>
#include <string>

#include "backends/executorch/api.h"
#include "backends/executorch/error_words.h"

namespace modelrun::executorch {
namespace {

constexpr std::size_t kAlignment = 64;

Buffer made_for(const std::string& doing, std::size_t bytes) {
  try {
    return Buffer(bytes);
  } catch (const Failure& failure) {
    throw Failure(failure.status(), doing + ": " + failure.what());
  }
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  std::size_t all = 0;
  const bool fits =
      !__builtin_add_overflow(bytes, kAlignment + kReadPastEnd, &all);
  memory_.reset(fits ? std::calloc(1, all) : nullptr);
  if (memory_ == nullptr) {
    throw Failure(MODELRUN_BACKEND_ERROR,
                  "out of memory: the program needs " + std::to_string(bytes) +
                      " bytes at once; its size follows from the upper bounds "
                      "that it was exported with");
  }
  void* aligned = memory_.get();
  data_ = static_cast<std::byte*>(
      std::align(kAlignment, bytes + kReadPastEnd, aligned, all));
}

LoadedMethod::LoadedMethod(const Program& program) {
  LogCapture log;
  const std::string doing = "loading the method '" + program.method() +
                            "' of '" + program.path() + "'";
  const et::MethodMeta meta = program.meta();
  for (std::size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    const auto size = meta.memory_planned_buffer_size(i);
    check(size.error(), doing, log);
    if (*size < 0) check(et::Error::InvalidProgram, doing, log);
    planned_.push_back(made_for(doing, static_cast<std::size_t>(*size)));
    const Buffer& made = planned_.back();
    spans_.emplace_back(reinterpret_cast<std::uint8_t*>(made.data()),
                        made.size());
  }
  planned_memory_.emplace(
      et::Span<et::Span<std::uint8_t>>(spans_.data(), spans_.size()));
  memory_.emplace(&structures_, &*planned_memory_, &scratch_);
  auto loaded =
      program.handle().load_method(program.method().c_str(), &*memory_);
  check(loaded.error(), doing, log);
  method_.emplace(std::move(loaded.get()));
  keep_state(program.plan());
}

void LoadedMethod::keep_state(const Plan& plan) {
  for (const MemoryRegion& region : plan.state) {
    const bool is_there =
        region.buffer < planned_.size() &&
        region.offset <= planned_[region.buffer].size() &&
        region.size <= planned_[region.buffer].size() - region.offset;
    if (!is_there) {
      throw Failure(MODELRUN_BACKEND_ERROR,
                    "the program is damaged: a tensor of it lies outside of "
                    "the memory that was planned");
    }
    std::byte* const memory = planned_[region.buffer].data() + region.offset;
    states_.push_back({memory, {memory, memory + region.size}});
  }
}

void LoadedMethod::reset_state() noexcept {
  for (const State& state : states_) {
    std::memcpy(state.memory, state.first.data(), state.first.size());
  }
}

const et::EValue& LoadedMethod::input(std::size_t position) const {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  // The only way to an input's kind of shape, and to the value that a program
  // was exported for.
  return method_->get_input(position);
#pragma GCC diagnostic pop
}

}  // namespace modelrun::executorch
