// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun::cli {

/// Reads comma-separated values as RFC 4180 writes them: a quoted field may
/// hold commas, line ends and doubled quotes. Nothing else is guessed at.
class CsvReader {
 public:
  /// `file` names the text in errors.
  CsvReader(std::string_view text, std::string file);

  /// The next record; nothing at the end. Throws InvalidArgument that names
  /// the line.
  [[nodiscard]] std::optional<std::vector<std::string>> next();
  /// The line on which the last record began, from 1.
  [[nodiscard]] std::size_t line() const noexcept { return record_line_; }

 private:
  std::string read_field();
  std::string read_quoted();
  bool accept(std::string_view wanted);
  [[noreturn]] void fail(const std::string& problem) const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t record_line_ = 1;
};

}  // namespace modelrun::cli
