// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace modelrun::executorch {

/// One table of a flatbuffer, read by the numbers of its fields. Every offset
/// is checked against the buffer; throws Failure where one leaves it.
class FlatTable {
 public:
  using Bytes = std::span<const std::byte>;

  /// The table that a buffer begins with.
  [[nodiscard]] static FlatTable root(Bytes buffer);

  /// `fallback` for a field that is not written.
  template <typename T>
  [[nodiscard]] T number(int field, T fallback) const {
    const auto at = position(field);
    return at ? read<T>(buffer_, *at) : fallback;
  }
  [[nodiscard]] bool has(int field) const {
    return position(field).has_value();
  }
  /// Empty for one that is not written; so are the others.
  [[nodiscard]] Bytes bytes(int field) const;
  [[nodiscard]] std::string text(int field) const;
  [[nodiscard]] std::vector<std::int32_t> integers(int field) const;
  [[nodiscard]] std::vector<FlatTable> tables(int field) const;
  [[nodiscard]] std::optional<FlatTable> table(int field) const;

 private:
  struct Vector {
    std::size_t start = 0;
    std::size_t count = 0;
  };

  FlatTable(Bytes buffer, std::size_t at);

  template <typename T>
  [[nodiscard]] static T read(Bytes buffer, std::size_t at);
  [[nodiscard]] static std::size_t follow(Bytes buffer, std::size_t at);
  [[nodiscard]] std::optional<std::size_t> position(int field) const;
  [[nodiscard]] Vector vector(int field, std::size_t element) const;

  Bytes buffer_;
  std::size_t at_;
  std::size_t fields_;
  std::size_t fields_size_;
};

}  // namespace modelrun::executorch
