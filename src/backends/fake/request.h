// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "modelrun/backend.h"
#include "script.h"

namespace modelrun::fake {

/// How often each call was made on a session; `describe` shows them.
struct Counts {
  std::atomic<int> requests{0};
  std::atomic<int> binds{0};
  std::atomic<int> runs{0};
  std::atomic<int> fetches{0};
  std::atomic<int> cancels{0};
};

/// Elements with a shape: a view of bound memory, or memory of the request.
/// Once it has held its largest value it allocates nothing.
struct Array {
  bool defined = false;
  DLDataType dtype{};
  std::vector<std::int64_t> shape;
  /// Bound memory; null when the elements are in `own`.
  void* bound = nullptr;
  std::vector<std::byte> own;

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] void* data() noexcept { return bound ? bound : own.data(); }
};

/// Buffers and state of the calls to one script.
class Request {
 public:
  Request(const Script& script, Counts& counts, std::atomic<int>& failures);

  void bind(modelrun_port_kind kind, std::size_t index, const DLTensor* tensor);
  void run();
  DLManagedTensorVersioned* fetch(modelrun_port_kind kind, std::size_t index);
  void cancel();

 private:
  Array& port(modelrun_port_kind kind, std::size_t index);
  void wait();
  void compute(std::size_t index);
  void write_output(std::size_t index, const void* data, std::size_t bytes);
  void shape_from(const Source& source, std::vector<std::int64_t>& shape);
  void advance_state(std::size_t index);
  void append(Array& state, Array& more, std::size_t axis);

  const Script& script_;
  Counts& counts_;
  std::atomic<int>& failures_;
  std::vector<Array> inputs_;
  std::vector<Array> outputs_;
  std::vector<Array> states_;
  /// Whether the last run's value of an output is still to be fetched.
  std::vector<char> fresh_;
  std::vector<std::int64_t> shape_;
  std::vector<std::byte> scratch_;

  std::mutex mutex_;
  std::condition_variable cancelled_changed_;
  bool running_ = false;
  bool cancelled_ = false;
};

/// Throws the script's failure when it is for this call and still due.
void fail_if_scripted(const Script& script, std::atomic<int>& failures,
                      const char* at);

}  // namespace modelrun::fake
