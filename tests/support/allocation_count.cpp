// SPDX-License-Identifier: Apache-2.0
#include "support/allocation_count.h"

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MODELRUN_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define MODELRUN_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef MODELRUN_COUNTS_ALLOCATIONS
#define MODELRUN_COUNTS_ALLOCATIONS 1
#endif

namespace modelrun::testing {
namespace {

// Of a trivial type, so that it may be counted before and after everything
// else of a thread lives.
constinit thread_local std::size_t allocations = 0;

#if MODELRUN_COUNTS_ALLOCATIONS
void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  if (size == 0) size = 1;
  for (;;) {
    void* memory = nullptr;
    if (alignment <= alignof(std::max_align_t)) {
      memory = std::malloc(size);
    } else if (posix_memalign(&memory, alignment, size) != 0) {
      memory = nullptr;
    }
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
#endif

}  // namespace

AllocationCount::AllocationCount() noexcept : before_(allocations) {}

std::optional<std::size_t> AllocationCount::count() const noexcept {
  if (!MODELRUN_COUNTS_ALLOCATIONS) return std::nullopt;
  return allocations - before_;
}

}  // namespace modelrun::testing

#if MODELRUN_COUNTS_ALLOCATIONS
// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t size) {
  return modelrun::testing::allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return modelrun::testing::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif
