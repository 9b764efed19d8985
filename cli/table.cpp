// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cli/terminal.h"

namespace modelrun::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = clean(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t room) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) {
      width = std::max(width, display_width(row[i]));
    }
    widths.push_back(width);
  }
  const std::size_t total = std::accumulate(widths.begin(), widths.end(),
                                            kGap * (columns_.size() - 1));
  const auto widest = std::max_element(widths.begin(), widths.end());
  if (room > 0 && total > room) {
    const std::size_t excess = total - room;
    *widest = std::max(std::min(*widest, kNarrowest),
                       *widest > excess ? *widest - excess : 0);
  }
  return widths;
}

std::string Table::text(std::size_t indent, std::size_t width) const {
  const auto columns = widths(width > indent ? width - indent : 0);
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells,
                            bool is_title) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      const std::string cell = padded(shortened(cells[i], columns[i]),
                                      columns[i], columns_[i].right_aligned);
      line += is_title ? styled(cell, "1", stdout) : cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  add_line(titles, true);
  for (const auto& row : rows_) add_line(row, false);
  return text;
}

}  // namespace modelrun::cli
