// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace modelrun::cli {

/// A bar on stderr, where that is a terminal; it is wiped at the end.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::size_t total);

 private:
  bool is_shown_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace modelrun::cli
