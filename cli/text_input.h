// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace modelrun::cli {

/// Where a command reads its texts from.
struct TextInput {
  /// `-` is the standard input. `.jsonl` and `.csv` are read as such, anything
  /// else line by line.
  std::string file;
  /// The field of a JSON line; makes any file one of JSON lines.
  std::string field;
  /// The column of a CSV record; makes any file a CSV file.
  std::string column;
};

/// The texts in their order. Throws NotFound, or InvalidArgument that names
/// the file and the line.
[[nodiscard]] std::vector<std::string> read_texts(const TextInput& input);

}  // namespace modelrun::cli
