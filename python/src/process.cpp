// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "interrupt.h"

namespace modelrun::python {
namespace {

std::atomic<unsigned> forks{0};

void after_fork_in_child() {
  forks.fetch_add(1, std::memory_order_relaxed);
  forget_threads();
}

}  // namespace

unsigned fork_count() noexcept { return forks.load(std::memory_order_relaxed); }

void watch_forks() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

bool is_main_thread() noexcept {
  struct Answer {
    unsigned forks;
    bool is_main;
  };
  const auto ask = [] {
    return Answer{fork_count(), syscall(SYS_gettid) == getpid()};
  };
  thread_local Answer answer = ask();
  // In a child, the thread that forked is the main one.
  if (answer.forks != fork_count()) answer = ask();
  return answer.is_main;
}

}  // namespace modelrun::python
