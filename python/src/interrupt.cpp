// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "process.h"

namespace modelrun::python {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

// Waits for SIGINT on a thread of its own, since a handler may hardly do
// anything itself.
class Watch {
 public:
  void start(std::stop_source& source) {
    const std::lock_guard lock(mutex_);
    active_ = &source;
    if (running_) return;
    sem_init(&signals_, 0, 0);
    std::thread([this] { watch(); }).detach();
    running_ = true;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    active_ = nullptr;
  }
  void notify() noexcept { sem_post(&signals_); }

 private:
  void watch() {
    while (true) {
      while (sem_wait(&signals_) != 0 && errno == EINTR) {
      }
      const std::lock_guard lock(mutex_);
      if (active_ != nullptr) active_->request_stop();
    }
  }

  std::mutex mutex_;
  std::stop_source* active_ = nullptr;
  sem_t signals_{};
  bool running_ = false;
};

std::atomic<Watch*> watch_of_process{nullptr};
struct sigaction python_action{};
bool scope_is_open = false;

// What is made when it is first needed, in each process anew.
template <typename T>
T& instance(std::atomic<T*>& of_process) {
  T* current = of_process.load();
  if (current != nullptr) return *current;
  auto made = std::make_unique<T>();
  if (of_process.compare_exchange_strong(current, made.get())) {
    return *made.release();
  }
  return *current;
}

// One source serves all runs until it is used. The main thread's own.
std::stop_source& unused_source() {
  static auto* source = new std::stop_source();
  if (source->stop_requested()) source = new std::stop_source();
  return *source;
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
  if (Watch* current = watch_of_process.load()) current->notify();
  if ((python_action.sa_flags & SA_SIGINFO) != 0) {
    python_action.sa_sigaction(signal, info, context);
  } else {
    python_action.sa_handler(signal);
  }
}

bool is_handled(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Works that are not waited for any more.
class Abandoned {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  bool wait_a_little() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPoll, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

std::atomic<Abandoned*> abandoned_of_process{nullptr};

// A work on another thread, which outlives whoever waits for it.
class Work {
 public:
  explicit Work(std::function<void()> work) : work_(std::move(work)) {}

  void run() {
    std::exception_ptr error;
    try {
      work_();
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    done_ = true;
    changed_.notify_all();
  }
  bool wait_a_little() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPoll, [this] { return done_; });
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
  bool done_ = false;
};

}  // namespace

InterruptScope::InterruptScope() {
  if (!is_main_thread() || scope_is_open) return;
  // Signals that come before the handler below knows Python's own are its.
  static const bool known = sigaction(SIGINT, nullptr, &python_action) == 0;
  struct sigaction ours{};
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  struct sigaction current{};
  if (!known || sigaction(SIGINT, &ours, &current) != 0) return;
  if (!is_handled(current)) {
    sigaction(SIGINT, &current, nullptr);
    return;
  }
  python_action = current;
  stop_ = &unused_source();
  instance(watch_of_process).start(*stop_);
  scope_is_open = true;
}

InterruptScope::~InterruptScope() {
  if (stop_ == nullptr) return;
  sigaction(SIGINT, &python_action, nullptr);
  scope_is_open = false;
  instance(watch_of_process).stop();
}

void InterruptScope::raise_if_interrupted() const {
  if (stop_ == nullptr || !stop_->stop_requested()) return;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void run_abandonable(std::function<void()> work) {
  if (!is_main_thread()) {
    const nb::gil_scoped_release released;
    return work();
  }
  Abandoned& abandoned = instance(abandoned_of_process);
  const auto shared = std::make_shared<Work>(std::move(work));
  abandoned.add();
  std::thread([shared, &abandoned] {
    shared->run();
    abandoned.remove();
  }).detach();
  bool done = false;
  while (!done) {
    {
      const nb::gil_scoped_release released;
      done = shared->wait_a_little();
    }
    if (!done && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  shared->rethrow();
}

void wait_for_abandoned() {
  Abandoned& abandoned = instance(abandoned_of_process);
  bool done = false;
  while (!done) {
    {
      const nb::gil_scoped_release released;
      done = abandoned.wait_a_little();
    }
    if (!done && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

void forget_threads() noexcept {
  watch_of_process.store(nullptr);
  abandoned_of_process.store(nullptr);
  scope_is_open = false;
}

}  // namespace modelrun::python
