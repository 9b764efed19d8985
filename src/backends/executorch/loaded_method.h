// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/executor/method.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "backends/executorch/program.h"

namespace modelrun::executorch {

/// Memory that is zero at first, aligned for any kernel, and some bytes larger
/// than asked for: XNNPACK reads past the end of what it is given.
class Buffer {
 public:
  Buffer() = default;
  /// Throws Failure when there is not that much. Pages are taken as they are
  /// written, so an upper bound that is never reached costs nothing.
  explicit Buffer(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// How many bytes XNNPACK may read past the end of a tensor.
inline constexpr std::size_t kReadPastEnd = 64;

/// A program's method with memory of its own. One thread at a time; must not
/// outlive the program.
class LoadedMethod {
 public:
  /// Throws Failure with the runtime's words.
  explicit LoadedMethod(const Program& program);
  LoadedMethod(const LoadedMethod&) = delete;
  LoadedMethod& operator=(const LoadedMethod&) = delete;

  [[nodiscard]] et::Method& handle() noexcept { return *method_; }
  /// Puts what a run left for the next one back as it was at first. Inputs
  /// must be set anew.
  void reset_state() noexcept;
  [[nodiscard]] const et::EValue& input(std::size_t position) const;
  [[nodiscard]] const et::EValue& output(std::size_t position) const {
    return method_->get_output(position);
  }

 private:
  /// A part of the planned memory, and what is in it before the first run.
  struct State {
    std::byte* memory = nullptr;
    std::vector<std::byte> first;
  };

  void keep_state(const Plan& plan);

  using Allocator = ::executorch::extension::MallocMemoryAllocator;

  Allocator structures_;
  Allocator scratch_;
  std::vector<Buffer> planned_;
  std::vector<et::Span<std::uint8_t>> spans_;
  std::optional<et::HierarchicalAllocator> planned_memory_;
  std::optional<et::MemoryManager> memory_;
  std::optional<et::Method> method_;
  std::vector<State> states_;
};

}  // namespace modelrun::executorch
