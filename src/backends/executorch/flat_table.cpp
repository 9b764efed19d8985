// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/flat_table.h"

#include <cstring>

#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

[[noreturn]] void refuse() {
  throw Failure(MODELRUN_BACKEND_ERROR,
                "the program is damaged: an offset in it leads nowhere");
}

}  // namespace

template <typename T>
T FlatTable::read(Bytes buffer, std::size_t at) {
  if (at > buffer.size() || buffer.size() - at < sizeof(T)) refuse();
  T value;
  std::memcpy(&value, buffer.data() + at, sizeof(T));
  return value;
}

template std::int8_t FlatTable::read(Bytes, std::size_t);
template std::uint8_t FlatTable::read(Bytes, std::size_t);
template std::int32_t FlatTable::read(Bytes, std::size_t);
template std::int16_t FlatTable::read(Bytes, std::size_t);
template std::uint32_t FlatTable::read(Bytes, std::size_t);
template std::uint64_t FlatTable::read(Bytes, std::size_t);
template float FlatTable::read(Bytes, std::size_t);

std::size_t FlatTable::follow(Bytes buffer, std::size_t at) {
  return at + read<std::uint32_t>(buffer, at);
}

FlatTable FlatTable::root(Bytes buffer) { return {buffer, follow(buffer, 0)}; }

FlatTable::FlatTable(Bytes buffer, std::size_t at) : buffer_(buffer), at_(at) {
  const auto back = read<std::int32_t>(buffer_, at_);
  // The list of fields may lie before the table or after it.
  const auto list = static_cast<std::int64_t>(at_) - back;
  if (list < 0) refuse();
  fields_ = static_cast<std::size_t>(list);
  fields_size_ = read<std::uint16_t>(buffer_, fields_);
  // Its own size and the table's come first.
  const bool is_list = fields_size_ >= 4 && fields_size_ % 2 == 0 &&
                       fields_size_ <= buffer_.size() - fields_;
  if (!is_list) refuse();
}

std::optional<std::size_t> FlatTable::position(int field) const {
  const std::size_t entry = 4 + 2 * static_cast<std::size_t>(field);
  if (entry + 2 > fields_size_) return std::nullopt;
  const auto offset = read<std::uint16_t>(buffer_, fields_ + entry);
  if (offset == 0) return std::nullopt;
  return at_ + offset;
}

FlatTable::Vector FlatTable::vector(int field, std::size_t element) const {
  const auto at = position(field);
  if (!at) return {};
  const std::size_t length = follow(buffer_, *at);
  const Vector found{length + 4, read<std::uint32_t>(buffer_, length)};
  if (found.count > (buffer_.size() - found.start) / element) refuse();
  return found;
}

FlatTable::Bytes FlatTable::bytes(int field) const {
  const Vector found = vector(field, 1);
  return buffer_.subspan(found.start, found.count);
}

std::string FlatTable::text(int field) const {
  const Bytes found = bytes(field);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

std::vector<std::int32_t> FlatTable::integers(int field) const {
  const Vector found = vector(field, 4);
  std::vector<std::int32_t> values(found.count);
  if (!values.empty()) {
    std::memcpy(values.data(), buffer_.data() + found.start, 4 * values.size());
  }
  return values;
}

std::vector<FlatTable> FlatTable::tables(int field) const {
  const Vector found = vector(field, 4);
  std::vector<FlatTable> values;
  values.reserve(found.count);
  for (std::size_t i = 0; i < found.count; ++i) {
    values.push_back({buffer_, follow(buffer_, found.start + 4 * i)});
  }
  return values;
}

std::optional<FlatTable> FlatTable::table(int field) const {
  const auto at = position(field);
  if (!at) return std::nullopt;
  return FlatTable(buffer_, follow(buffer_, *at));
}

}  // namespace modelrun::executorch
