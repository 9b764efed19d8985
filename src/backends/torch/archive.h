// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/mapped_file.h"

namespace modelrun::torch {

/// A `.pt2` file: a zip whose records are stored as they are, mapped into
/// memory and never unpacked. Untrusted: each record lies within the file, and
/// is handed out only when its checksum is right.
class Archive {
 public:
  /// Throws NotFound, InvalidArgument, or Unsupported for compressed records.
  explicit Archive(const std::filesystem::path& path);

  /// The bytes of a record, by its name below the archive's one folder.
  /// Throws InvalidArgument when there is none or it is damaged.
  [[nodiscard]] std::span<const std::uint8_t> record(
      std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const {
    return entries_.find(name) != entries_.end();
  }
  /// The one record `<folder>/<name>.json`; throws unless it is just one.
  [[nodiscard]] std::string only_json(std::string_view folder) const;
  /// The records whose names begin with `folder`, in alphabetical order.
  [[nodiscard]] std::vector<std::string> names_below(
      std::string_view folder) const;
  /// Whether AOTInductor compiled something into it.
  [[nodiscard]] bool holds_compiled_code() const;
  /// For messages.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return mapping_.bytes();
  }

 private:
  struct Entry {
    std::size_t header;
    std::size_t size;
    std::uint32_t crc;
  };
  struct Directory {
    std::size_t offset;
    std::size_t size;
    std::uint64_t count;
  };

  [[nodiscard]] Directory find_directory() const;
  void read_directory();
  std::size_t read_entry(std::size_t at, std::size_t end);
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t width) const;

  MappedFile mapping_;
  std::string file_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace modelrun::torch
