// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace modelrun::cli {

/// Rows in aligned columns. Where they do not fit the terminal, the widest
/// column is shortened.
class Table {
 public:
  struct Column {
    std::string title;
    bool right_aligned = false;
  };

  explicit Table(std::vector<Column> columns);

  /// One cell a column; control characters are left out.
  void add(std::vector<std::string> cells);
  /// Every row as a line after `indent` spaces; `width` columns, 0 for any.
  [[nodiscard]] std::string text(std::size_t indent, std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t room) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace modelrun::cli
