// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace modelrun {

/// What is wrong with an encoded message, and where.
class WireError : public std::runtime_error {
 public:
  WireError(const std::string& what, const std::uint8_t* where)
      : std::runtime_error(what), where(where) {}

  const std::uint8_t* where;
};

/// One field of a protobuf message: a number, or bytes within the message.
struct WireField {
  std::uint32_t number = 0;
  std::uint32_t wire_type = 0;
  std::uint64_t value = 0;
  std::span<const std::uint8_t> bytes;
  const std::uint8_t* begin = nullptr;

  /// Each throws WireError when the field is of another wire type.
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::span<const std::uint8_t> message() const;
  [[nodiscard]] std::string_view text() const;
};

/// Walks over the fields of one protobuf message without copying: skipped
/// bytes are never touched. Everything is checked against the bounds; throws
/// WireError.
class WireReader {
 public:
  explicit WireReader(std::span<const std::uint8_t> message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  /// The next field, nothing at the message's end.
  std::optional<WireField> next();
  /// The next number of a packed list, nothing at its end.
  std::optional<std::int64_t> next_packed();

 private:
  std::uint64_t varint();

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace modelrun
