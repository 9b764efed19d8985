// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <cstdio>
#include <string>

#include "cli/terminal.h"

namespace modelrun::cli {

Progress::Progress()
    : is_shown_(is_terminal(stderr)),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::size_t done, std::size_t total) {
  constexpr std::size_t kWidth = 30;
  if (!is_shown_ || total == 0) return;
  const std::size_t filled = kWidth * done / total;
  std::string bar;
  for (std::size_t i = 0; i < kWidth; ++i) bar += i < filled ? "━" : " ";
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start_;
  std::fprintf(stderr, "\r\x1b[K%s %zu/%zu texts, %.0f/s", bar.c_str(), done,
               total, static_cast<double>(done) / passed.count());
  std::fflush(stderr);
}

}  // namespace modelrun::cli
