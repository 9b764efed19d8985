// SPDX-License-Identifier: Apache-2.0
#include "cli/csv.h"

#include <algorithm>
#include <utility>

#include "modelrun/error.h"

namespace modelrun::cli {

CsvReader::CsvReader(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)) {}

std::optional<std::vector<std::string>> CsvReader::next() {
  if (at_ == text_.size()) return std::nullopt;
  record_line_ = line_;
  std::vector<std::string> fields;
  do {
    fields.push_back(read_field());
  } while (accept(","));
  if (!accept("\r\n") && !accept("\n") && at_ != text_.size()) {
    fail("expected a comma or the end of the line after a quoted field");
  }
  ++line_;
  return fields;
}

std::string CsvReader::read_field() {
  if (accept("\"")) return read_quoted();
  const auto end = std::min(text_.find_first_of(",\"\n", at_), text_.size());
  if (end < text_.size() && text_[end] == '"') {
    fail("a quote within a field that is not quoted");
  }
  std::string field(text_.substr(at_, end - at_));
  at_ = end;
  // The line's end stays for the record.
  if (field.ends_with('\r') && (end == text_.size() || text_[end] == '\n')) {
    field.pop_back();
    if (end < text_.size()) --at_;
  }
  return field;
}

std::string CsvReader::read_quoted() {
  std::string field;
  while (true) {
    const auto end = text_.find('"', at_);
    if (end == text_.npos) fail("a quoted field is not closed");
    const auto part = text_.substr(at_, end - at_);
    line_ +=
        static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    field += part;
    at_ = end + 1;
    if (!accept("\"")) return field;
    field += '"';
  }
}

bool CsvReader::accept(std::string_view wanted) {
  if (!text_.substr(at_).starts_with(wanted)) return false;
  at_ += wanted.size();
  return true;
}

void CsvReader::fail(const std::string& problem) const {
  throw InvalidArgument(file_ + ": line " + std::to_string(record_line_) +
                        ": " + problem);
}

}  // namespace modelrun::cli
