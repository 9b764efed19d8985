// SPDX-License-Identifier: Apache-2.0
#include "artifact/protobuf_wire.h"

namespace modelrun {
namespace {

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kBytes = 2;
constexpr std::uint32_t kFixed32 = 5;

[[noreturn]] void fail_type(const WireField& field, const char* expected) {
  throw WireError("field " + std::to_string(field.number) + " has wire type " +
                      std::to_string(field.wire_type) + ", expected " +
                      expected,
                  field.begin);
}

}  // namespace

std::int64_t WireField::integer() const {
  if (wire_type != kVarint) fail_type(*this, "0 (a number)");
  return static_cast<std::int64_t>(value);
}

std::span<const std::uint8_t> WireField::message() const {
  if (wire_type != kBytes) fail_type(*this, "2 (bytes)");
  return bytes;
}

std::string_view WireField::text() const {
  const auto content = message();
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

std::uint64_t WireReader::varint() {
  const std::uint8_t* begin = at_;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) throw WireError("ends within a number", begin);
    const std::uint8_t byte = *at_++;
    if (shift == 63 && byte > 1) break;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw WireError("holds a number of more than 64 bits", begin);
}

std::optional<WireField> WireReader::next() {
  if (at_ == end_) return std::nullopt;
  WireField field;
  field.begin = at_;
  const std::uint64_t tag = varint();
  field.wire_type = static_cast<std::uint32_t>(tag & 7);
  if (tag >> 3 == 0 || tag >> 3 > (1U << 29) - 1) {
    throw WireError("holds a field of number " + std::to_string(tag >> 3),
                    field.begin);
  }
  field.number = static_cast<std::uint32_t>(tag >> 3);
  if (field.wire_type == kVarint) {
    field.value = varint();
    return field;
  }
  std::uint64_t length = 0;
  if (field.wire_type == kBytes) {
    length = varint();
  } else if (field.wire_type == kFixed64) {
    length = 8;
  } else if (field.wire_type == kFixed32) {
    length = 4;
  } else {
    fail_type(field, "0, 1, 2 or 5");
  }
  const auto left = static_cast<std::uint64_t>(end_ - at_);
  if (length > left) {
    throw WireError("field " + std::to_string(field.number) + " claims " +
                        std::to_string(length) + " bytes where " +
                        std::to_string(left) +
                        " are left: the file is damaged or cut off",
                    field.begin);
  }
  field.bytes = {at_, static_cast<std::size_t>(length)};
  at_ += length;
  return field;
}

std::optional<std::int64_t> WireReader::next_packed() {
  if (at_ == end_) return std::nullopt;
  return static_cast<std::int64_t>(varint());
}

}  // namespace modelrun
