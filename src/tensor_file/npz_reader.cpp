// SPDX-License-Identifier: Apache-2.0
#include <minizip/unzip.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "tensor_file/mapped_tensors.h"
#include "tensor_file/npy.h"

namespace modelrun::detail {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kMaxName = 4096;
// More than deflate can shrink anything by.
constexpr std::uint64_t kMaxRatio = 1100;

struct Close {
  void operator()(void* file) const noexcept { unzClose(file); }
};
using Archive = std::unique_ptr<void, Close>;

struct Member {
  std::string name;
  std::string what;  // for messages
  std::uint64_t size = 0;
};

// minizip opens an archive whose last bytes are missing, and reads them as 0.
bool has_whole_end(std::string_view bytes) {
  constexpr std::size_t kEnd = 22;
  const auto at = bytes.rfind("PK\5\6");
  if (at == bytes.npos || bytes.size() - at < kEnd) return false;
  const auto byte = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(bytes[at + i])};
  };
  const std::size_t comment = byte(20) | byte(21) << 8;
  return bytes.size() == at + kEnd + comment;
}

Member current_member(unzFile archive, const std::string& file,
                      std::uint64_t file_size) {
  unz_file_info64 info{};
  std::string name(kMaxName, '\0');
  if (unzGetCurrentFileInfo64(archive, &info, name.data(), name.size(), nullptr,
                              0, nullptr, 0) != UNZ_OK ||
      info.size_filename > name.size()) {
    throw InvalidArgument(file + ": the archive's directory is damaged");
  }
  name.resize(info.size_filename);
  const std::string what = file + ": " + printable(name);
  if (!name.ends_with(kSuffix) || find_invalid_utf8(name) != name.npos) {
    throw InvalidArgument(what + ": expected members whose names end in .npy");
  }
  if ((info.flag & 1) != 0) {
    throw Unsupported(what + ": is encrypted: save it without a password");
  }
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
    throw Unsupported(what + ": compression method " +
                      std::to_string(info.compression_method) +
                      " is not known: save it with numpy.savez");
  }
  if (info.compressed_size > file_size ||
      info.uncompressed_size / kMaxRatio > info.compressed_size) {
    throw InvalidArgument(what + ": its size does not fit the archive");
  }
  name.resize(name.size() - kSuffix.size());
  return {std::move(name), what, info.uncompressed_size};
}

void read_exactly(unzFile archive, void* data, std::size_t size,
                  const std::string& what) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const auto part =
        static_cast<unsigned>(std::min<std::size_t>(size, INT_MAX));
    const int got = unzReadCurrentFile(archive, bytes, part);
    if (got <= 0) {
      throw InvalidArgument(what + ": the archive is damaged or cut short");
    }
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
}

Tensor read_member(unzFile archive, const Member& member) {
  if (unzOpenCurrentFile(archive) != UNZ_OK) {
    throw InvalidArgument(member.what + ": the archive is damaged");
  }
  std::string head(kNpyPrefix, '\0');
  read_exactly(archive, head.data(), head.size(), member.what);
  head.resize(npy_header_length(head, member.what));
  read_exactly(archive, head.data() + kNpyPrefix, head.size() - kNpyPrefix,
               member.what);
  const NpyHeader header = parse_npy_header(head, member.what);
  if (header.data_size !=
      member.size - std::min<std::uint64_t>(member.size, header.offset)) {
    throw InvalidArgument(member.what + ": " + std::string(name(header.dtype)) +
                          to_string(header.shape) + " takes " +
                          std::to_string(header.data_size) +
                          " bytes after its header, got " + "a member of " +
                          std::to_string(member.size));
  }
  Tensor elements = Tensor::empty(header.dtype, header.shape);
  read_exactly(archive, elements.raw_data(), header.data_size, member.what);
  if (unzCloseCurrentFile(archive) != UNZ_OK) {
    throw InvalidArgument(member.what +
                          ": its checksum is wrong: the file is "
                          "damaged");
  }
  Tensor tensor = row_major(header, std::move(elements));
  check_bools(tensor, member.what);
  return tensor;
}

void add_scalars(const Tensor& bytes, const std::string& what,
                 NamedValues& values) {
  if (bytes.dtype() != DType::uint8 || bytes.rank() != 1) {
    throw InvalidArgument(what + ": expected the bytes of a JSON object, got " +
                          to_string(bytes));
  }
  const std::string_view text(static_cast<const char*>(bytes.raw_data()),
                              bytes.byte_size());
  for (auto& named : scalars_from_json(text, what)) {
    values.push_back(std::move(named));
  }
}

void check_names(const NamedValues& values, const std::string& file) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, value] : values) {
    if (names.insert(name).second) continue;
    throw InvalidArgument(file + ": " + printable(name) + " stands twice");
  }
}

}  // namespace

NamedValues load_npz(const std::filesystem::path& path) {
  const std::string file = display(path);
  const auto bytes = MappedTensors::open(path);
  const std::uint64_t size = bytes->bytes().size();
  const Archive archive(unzOpen64(path.c_str()));
  if (archive == nullptr || !has_whole_end(bytes->bytes())) {
    throw InvalidArgument(file +
                          ": is not a zip archive, as .npz files are: "
                          "it was cut short or is damaged");
  }
  unz_global_info64 info{};
  unzGetGlobalInfo64(archive.get(), &info);
  NamedValues values;
  for (std::uint64_t i = 0; i < info.number_entry; ++i) {
    const int status = i == 0 ? unzGoToFirstFile(archive.get())
                              : unzGoToNextFile(archive.get());
    if (status != UNZ_OK) {
      throw InvalidArgument(file + ": the archive's directory is damaged");
    }
    Member member = current_member(archive.get(), file, size);
    Tensor tensor = read_member(archive.get(), member);
    if (member.name == kScalarsName) {
      add_scalars(tensor, member.what, values);
    } else {
      values.emplace_back(std::move(member.name), std::move(tensor));
    }
  }
  check_names(values, file);
  return values;
}

}  // namespace modelrun::detail
