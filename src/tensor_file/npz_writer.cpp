// SPDX-License-Identifier: Apache-2.0
#include <minizip/zip.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "tensor_file/atomic_file.h"
#include "tensor_file/npy.h"

namespace modelrun::detail {
namespace {

// The bit of a zip member that says its name is UTF-8.
constexpr unsigned long kUtf8Name = 1 << 11;
// Made by version 4.5, the first with archives of more than 4 GiB, on Unix.
constexpr unsigned long kMadeBy = 3 << 8 | 45;
// Past this a member needs the fields of a larger archive; headers included.
constexpr std::size_t kLargeMember = std::size_t{0xffffffff} - 65536;

constexpr std::size_t kMaxName = 4000;

class ZipWriter {
 public:
  ZipWriter(const std::filesystem::path& file, std::string shown)
      : zip_(zipOpen64(file.c_str(), APPEND_STATUS_CREATE)),
        shown_(std::move(shown)) {
    if (zip_ == nullptr) fail();
  }
  ~ZipWriter() {
    if (zip_ != nullptr) zipClose(zip_, nullptr);
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  void add(const std::string& name, const Tensor& tensor) {
    if (name.size() > kMaxName || name.find('\0') != name.npos) {
      throw InvalidArgument("cannot save " + printable(name) +
                            ": such a name does not fit a zip archive");
    }
    const std::string header =
        make_npy_header(tensor, "cannot save " + printable(name));
    // The first date that a zip archive can hold: equal content, equal file.
    zip_fileinfo info{};
    info.tmz_date.tm_year = 1980;
    info.tmz_date.tm_mday = 1;
    info.external_fa = 0600u << 16;
    const int large = tensor.byte_size() >= kLargeMember ? 1 : 0;
    check(zipOpenNewFileInZip4_64(zip_, (name + ".npy").c_str(), &info, nullptr,
                                  0, nullptr, 0, nullptr, 0, 0, 0, -MAX_WBITS,
                                  DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0,
                                  kMadeBy, kUtf8Name, large));
    write({header.data(), header.size()});
    write({static_cast<const char*>(tensor.raw_data()), tensor.byte_size()});
    check(zipCloseFileInZip(zip_));
  }

  void close() {
    const int status = zipClose(zip_, nullptr);
    zip_ = nullptr;
    check(status);
  }

 private:
  void write(std::span<const char> bytes) {
    constexpr std::size_t kPart = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(kPart, bytes.size()));
      check(zipWriteInFileInZip(zip_, part.data(),
                                static_cast<unsigned>(part.size())));
      bytes = bytes.subspan(part.size());
    }
  }

  void check(int status) const {
    if (status != ZIP_OK) fail();
  }

  [[noreturn]] void fail() const {
    throw Error("cannot write " + shown_ +
                ": check the free space and the permissions of its folder");
  }

  zipFile zip_;
  std::string shown_;
};

}  // namespace

void save_npz(const FlatValues& values, const std::filesystem::path& path) {
  AtomicFile file(path);
  ZipWriter zip(file.temporary(), display(path));
  for (const auto& [name, tensor] : values.tensors) zip.add(name, tensor);
  if (!values.scalars.empty()) {
    const std::string text = scalars_to_json(values.scalars);
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()),
                          text.size());
    zip.add(std::string(kScalarsName),
            Tensor::from<std::uint8_t>(
                bytes, {static_cast<std::int64_t>(text.size())}));
  }
  zip.close();
  file.commit();
}

}  // namespace modelrun::detail
