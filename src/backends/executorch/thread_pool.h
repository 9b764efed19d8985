// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace modelrun::executorch {

/// The runtime's one pool of threads, for the whole process.
///
/// Its size is set by the first session that computes with more than one
/// thread, and stays: setting it while another session runs is not safe. One
/// thread is always to be had, whatever the pool's size, within a Scope.
class ThreadPool {
 public:
  /// Opens the pool's library, in the runtime's folder.
  explicit ThreadPool(const std::string& folder);

  /// How many threads a session computes with that asked for this many, or for
  /// as many as the process has cores. Logs a warning where the pool has
  /// another size already.
  [[nodiscard]] int use(std::optional<int> asked);

  /// Makes this thread compute alone while it lives, when `threads` is 1.
  class Scope {
   public:
    Scope(const ThreadPool& pool, int threads);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const ThreadPool* pool_ = nullptr;
  };

 private:
  [[nodiscard]] int resized(int threads);

  void* (*pool_)();
  std::size_t (*count_)(const void*);
  bool (*reset_)(void*, std::uint32_t);
  bool (*is_alone_)();
  void (*set_alone_)(bool);
  std::mutex mutex_;
  /// Zero until it is set.
  int size_ = 0;
};

}  // namespace modelrun::executorch
