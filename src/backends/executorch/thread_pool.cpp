// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/thread_pool.h"

#include <type_traits>

#include "backends/common/log_hosts.h"
#include "backends/executorch/api.h"
#include "backends/executorch/platform.h"
#include "backends/executorch/shared_library.h"
#include "core/usable_cores.h"

namespace modelrun::executorch {

// The wheel has no header for the pool, so its functions are found by the names
// that the compiler gave them.
ThreadPool::ThreadPool(const std::string& folder) {
  void* library = open_library(folder + "/libexecutorch_threadpool.so");
  const auto find = [&](auto& function, const char* symbol) {
    function = function_of<std::remove_reference_t<decltype(function)>>(library,
                                                                        symbol);
  };
  find(pool_, "_ZN10executorch9extension10threadpool14get_threadpoolEv");
  find(count_,
       "_ZNK10executorch9extension10threadpool10ThreadPool16"
       "get_thread_countEv");
  find(reset_,
       "_ZN10executorch9extension10threadpool10ThreadPool24"
       "_unsafe_reset_threadpoolEj");
  find(is_alone_,
       "_ZN10executorch9extension10threadpool17NoThreadPoolGuard10"
       "is_enabledEv");
  find(set_alone_,
       "_ZN10executorch9extension10threadpool17NoThreadPoolGuard11"
       "set_enabledEb");
}

int ThreadPool::use(std::optional<int> asked) {
  if (asked == 1) return 1;
  const std::lock_guard lock(mutex_);
  if (size_ == 0) {
    const int wanted = asked ? *asked : usable_cores();
    if (wanted == 1) return 1;
    size_ = resized(wanted);
  }
  if (asked && *asked != size_) {
    plugin::log_to_host(
        MODELRUN_LOG_WARNING,
        "executorch option 'threads': " + std::to_string(*asked) +
            " cannot be had, the process computes with " +
            std::to_string(size_) +
            " already: ExecuTorch has one pool of threads, which the "
            "first model sizes; only 1 is free to choose for each");
  }
  return size_;
}

int ThreadPool::resized(int threads) {
  void* pool = pool_();
  if (pool == nullptr) {
    throw Failure(MODELRUN_BACKEND_ERROR, "ExecuTorch made no thread pool");
  }
  if (count_(pool) != static_cast<std::size_t>(threads) &&
      !reset_(pool, static_cast<std::uint32_t>(threads))) {
    throw Failure(
        MODELRUN_BACKEND_ERROR,
        "ExecuTorch refused a thread pool of " + std::to_string(threads));
  }
  return static_cast<int>(count_(pool));
}

ThreadPool::Scope::Scope(const ThreadPool& pool, int threads) {
  if (threads != 1 || pool.is_alone_()) return;
  pool_ = &pool;
  pool_->set_alone_(true);
}

ThreadPool::Scope::~Scope() {
  if (pool_ != nullptr) pool_->set_alone_(false);
}

}  // namespace modelrun::executorch
