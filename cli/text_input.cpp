// SPDX-License-Identifier: Apache-2.0
#include "cli/text_input.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "cli/arguments.h"
#include "cli/csv.h"
#include "modelrun/error.h"

namespace modelrun::cli {
namespace {

constexpr const char* kDefaultName = "text";

std::string read_stream(std::FILE* stream, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  while (const auto got = std::fread(buffer, 1, sizeof buffer, stream)) {
    text.append(buffer, got);
  }
  if (std::ferror(stream) != 0) {
    throw InvalidArgument("cannot read " + name + ": " +
                          std::generic_category().message(errno));
  }
  return text;
}

std::string read_file(const std::string& file, const std::string& name) {
  if (file == "-") return read_stream(stdin, name);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(
      std::fopen(file.c_str(), "rb"), &std::fclose);
  if (stream == nullptr) {
    throw NotFound("cannot read " + name + ": " +
                   std::generic_category().message(errno));
  }
  return read_stream(stream.get(), name);
}

// Calls `each(line, number)`, without the line's end. The end of the last line
// may be missing.
void for_each_line(
    std::string_view text,
    const std::function<void(std::string_view, std::size_t)>& each) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    each(line, number);
  }
}

void check_utf8(std::string_view text, const std::string& name) {
  const auto bad = find_invalid_utf8(text);
  if (bad == text.npos) return;
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad),
                 '\n') +
      1;
  throw InvalidArgument(name + ": line " + std::to_string(line) +
                        ": is not UTF-8");
}

std::vector<std::string> read_lines(std::string_view text) {
  std::vector<std::string> texts;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    texts.emplace_back(line);
  });
  return texts;
}

std::vector<std::string> read_json_lines(std::string_view text,
                                         const std::string& name,
                                         const std::string& field) {
  std::vector<std::string> texts;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    const std::string where = name + ": line " + std::to_string(number);
    const auto object = parse_json(line, where);
    const auto* value = json_find(json_object(object, where), field);
    if (value == nullptr) {
      throw InvalidArgument(where + ": no field " + printable(field) +
                            ": name one with --field");
    }
    texts.push_back(json_string(*value, where + ": " + printable(field)));
  });
  return texts;
}

std::vector<std::string> read_csv(std::string_view text,
                                  const std::string& name,
                                  const std::string& column) {
  CsvReader reader(text, name);
  const auto titles = reader.next();
  if (!titles) throw InvalidArgument(name + ": line 1: expected column titles");
  const auto found = std::find(titles->begin(), titles->end(), column);
  if (found == titles->end()) {
    std::string known;
    for (const auto& title : *titles) {
      known += (known.empty() ? "" : ", ") + printable(title);
    }
    throw InvalidArgument(name + ": line 1: no column " + printable(column) +
                          ", there are " + known + ": name one with --column");
  }
  const auto index = static_cast<std::size_t>(found - titles->begin());
  std::vector<std::string> texts;
  while (const auto record = reader.next()) {
    if (record->size() != titles->size()) {
      throw InvalidArgument(name + ": line " + std::to_string(reader.line()) +
                            ": expected " + std::to_string(titles->size()) +
                            " fields, got " + std::to_string(record->size()));
    }
    texts.push_back((*record)[index]);
  }
  return texts;
}

}  // namespace

std::vector<std::string> read_texts(const TextInput& input) {
  if (!input.field.empty() && !input.column.empty()) {
    throw UsageError(
        "--field is for JSON lines and --column for CSV: give one");
  }
  const std::string name =
      input.file == "-" ? "the standard input" : display(input.file);
  const std::string content = read_file(input.file, name);
  std::string_view text = content;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_utf8(text, name);
  const auto or_default = [](const std::string& chosen) {
    return chosen.empty() ? std::string(kDefaultName) : chosen;
  };
  if (!input.field.empty() ||
      (input.column.empty() && input.file.ends_with(".jsonl"))) {
    return read_json_lines(text, name, or_default(input.field));
  }
  if (!input.column.empty() || input.file.ends_with(".csv")) {
    return read_csv(text, name, or_default(input.column));
  }
  return read_lines(text);
}

}  // namespace modelrun::cli
