// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/archive.h"

#include <zlib.h>

#include <algorithm>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocator64Size = 20;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;

}  // namespace

Archive::Archive(const std::filesystem::path& path)
    : mapping_(path), file_(display(path)) {
  read_directory();
}

std::span<const std::uint8_t> Archive::record(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    fail("has no record " + printable(name) +
         ": it is no whole torch.export archive, export the model again");
  }
  const Entry& entry = found->second;
  const std::size_t size = bytes().size();
  if (entry.header > size || size - entry.header < kLocalHeaderSize ||
      number(entry.header, 4) != kLocalHeader) {
    fail("record " + printable(name) +
         " has no header where the zip's "
         "directory says");
  }
  const std::size_t skipped = kLocalHeaderSize + number(entry.header + 26, 2) +
                              number(entry.header + 28, 2);
  if (size - entry.header < skipped ||
      size - entry.header - skipped < entry.size) {
    fail("record " + printable(name) + " ends past the end of the file");
  }
  const auto data = bytes().subspan(entry.header + skipped, entry.size);
  if (crc32_z(0, data.data(), data.size()) != entry.crc) {
    fail("record " + printable(name) +
         " is damaged: its checksum is not the recorded one");
  }
  return data;
}

std::string_view Archive::text(std::string_view name) const {
  const auto data = record(name);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

std::string Archive::only_json(std::string_view folder) const {
  std::vector<std::string> found = names_below(std::string(folder) + '/');
  std::erase_if(
      found, [](const std::string& name) { return !name.ends_with(".json"); });
  if (found.empty() && holds_compiled_code()) {
    throw Unsupported(file_ +
                      ": is an AOTInductor package without the program that it "
                      "was compiled from, which tells its inputs: make one "
                      "that has it with 'modelrun compile'");
  }
  if (found.empty()) {
    fail("has no program in " + std::string(folder) +
         "/: it is no torch.export archive of this format, export the model "
         "again");
  }
  if (found.size() > 1) {
    fail("has " + std::to_string(found.size()) + " programs in " +
         std::string(folder) + "/, expected one: save one to each file");
  }
  return found.front();
}

std::vector<std::string> Archive::names_below(std::string_view folder) const {
  std::vector<std::string> names;
  for (auto at = entries_.lower_bound(folder);
       at != entries_.end() && at->first.starts_with(folder); ++at) {
    names.push_back(at->first);
  }
  return names;
}

bool Archive::holds_compiled_code() const {
  return !names_below("data/aotinductor/").empty();
}

Archive::Directory Archive::find_directory() const {
  const std::size_t size = bytes().size();
  if (size < kEndSize) fail("is too short to be a zip file");
  // A comment of at most 64 KiB may follow the end record.
  const std::size_t last = size - kEndSize;
  const std::size_t first = last - std::min<std::size_t>(last, 0xFFFF);
  std::size_t end = last + 1;
  while (end > first && number(end - 1, 4) != kDirectoryEnd) --end;
  if (end == first) {
    fail("is no zip file, or only the beginning of one: it has no directory");
  }
  --end;
  Directory directory{.offset = number(end + 16, 4),
                      .size = number(end + 12, 4),
                      .count = number(end + 10, 2)};
  const bool is_large = directory.offset == kIn64 || directory.size == kIn64 ||
                        directory.count == 0xFFFF;
  if (is_large && end >= kLocator64Size &&
      number(end - kLocator64Size, 4) == kLocator64) {
    const std::size_t end64 = number(end - kLocator64Size + 8, 8);
    if (end64 > size || size - end64 < kEnd64Size ||
        number(end64, 4) != kDirectoryEnd64) {
      fail("is a damaged zip file: its 64-bit end record is not where it says");
    }
    directory = {.offset = number(end64 + 48, 8),
                 .size = number(end64 + 40, 8),
                 .count = number(end64 + 32, 8)};
  }
  if (directory.offset > size || size - directory.offset < directory.size) {
    fail("is a damaged zip file: its directory ends past the end of the file");
  }
  return directory;
}

void Archive::read_directory() {
  const Directory directory = find_directory();
  if (directory.count > directory.size / kEntrySize) {
    fail("is a damaged zip file: its directory is too short for " +
         std::to_string(directory.count) + " records");
  }
  std::size_t at = directory.offset;
  const std::size_t end = directory.offset + directory.size;
  for (std::uint64_t i = 0; i < directory.count; ++i) at = read_entry(at, end);
}

std::size_t Archive::read_entry(std::size_t at, std::size_t end) {
  if (end - at < kEntrySize || number(at, 4) != kDirectoryEntry) {
    fail("is a damaged zip file: an entry of its directory is broken");
  }
  const std::size_t name_size = number(at + 28, 2);
  const std::size_t extra_size = number(at + 30, 2);
  const std::size_t whole =
      kEntrySize + name_size + extra_size + number(at + 32, 2);
  if (end - at < whole) {
    fail("is a damaged zip file: an entry of its directory is cut off");
  }
  std::string name(
      reinterpret_cast<const char*>(bytes().data()) + at + kEntrySize,
      name_size);
  std::uint64_t stored = number(at + 20, 4);
  std::uint64_t size = number(at + 24, 4);
  std::uint64_t header = number(at + 42, 4);
  // Sizes of 4 GiB and more are in an extra field, those that are there only.
  std::size_t extra = at + kEntrySize + name_size;
  const std::size_t extra_end = extra + extra_size;
  while (extra_end - extra >= 4) {
    const std::size_t id = number(extra, 2);
    const std::size_t length = number(extra + 2, 2);
    extra += 4;
    if (extra_end - extra < length) break;
    std::size_t field = extra;
    const auto widen = [&](std::uint64_t& value) {
      if (value != kIn64 || extra + length - field < 8) return;
      value = number(field, 8);
      field += 8;
    };
    if (id == 1) {
      widen(size);
      widen(stored);
      widen(header);
    }
    extra += length;
  }
  if ((number(at + 8, 2) & 1) != 0 || number(at + 10, 2) != 0 ||
      stored != size) {
    throw Unsupported(file_ + ": record " + printable(name) +
                      " is compressed or encrypted; torch stores the records "
                      "of an export as they are: save it anew with "
                      "torch.export.save");
  }
  const std::size_t slash = name.find('/');
  if (slash != name.npos) name.erase(0, slash + 1);
  const Entry entry{.header = header,
                    .size = size,
                    .crc = static_cast<std::uint32_t>(number(at + 16, 4))};
  if (!entries_.emplace(std::move(name), entry).second) {
    fail("has a record twice");
  }
  return at + whole;
}

void Archive::fail(const std::string& what) const {
  throw InvalidArgument(file_ + ": " + what);
}

std::uint64_t Archive::number(std::size_t at, std::size_t width) const {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8 | bytes()[at + i];
  return value;
}

}  // namespace modelrun::torch
