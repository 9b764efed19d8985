// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/code_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "backends/torch/sha256.h"
#include "modelrun/error.h"

namespace modelrun::torch {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTemporary = ".tmp-";

struct CodeFile {
  std::string name;
  std::span<const std::uint8_t> bytes;
};

fs::path cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
  };
  fs::path root = variable("XDG_CACHE_HOME");
  if (root.empty() && !variable("HOME").empty()) {
    root = variable("HOME") / ".cache";
  }
  if (root.empty()) {
    throw NotFound(
        "there is no folder to unpack compiled code to: set XDG_CACHE_HOME");
  }
  return root / "modelrun" / "aotinductor";
}

/// Records may overlap: their sizes alone are no bound.
std::vector<CodeFile> code_files(const Archive& archive) {
  std::vector<CodeFile> files;
  const std::string folder = std::string(kCodeFolder) + '/';
  std::uint64_t total = 0;
  for (const std::string& name : archive.names_below("data/aotinductor")) {
    const auto refuse = [&](const std::string& what) {
      throw InvalidArgument(archive.file() + ": compiled code " +
                            printable(name) + " " + what);
    };
    if (!name.starts_with(folder)) {
      refuse("is not in " + folder + ", the one place where modelrun reads it");
    }
    std::string below = name.substr(folder.size());
    if (below.find('/') != below.npos || !is_safe_relative(below)) {
      refuse("would be unpacked outside of its folder");
    }
    const auto bytes = archive.record(name);
    total += bytes.size();
    if (total > archive.bytes().size()) {
      refuse("and the others are larger than the whole archive");
    }
    files.push_back({std::move(below), bytes});
  }
  return files;
}

std::string hash_of(const std::vector<CodeFile>& files) {
  Sha256 hash;
  for (const CodeFile& file : files) {
    const std::string head =
        file.name + '\n' + std::to_string(file.bytes.size()) + '\n';
    hash.add({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
    hash.add(file.bytes);
  }
  return hash.finish();
}

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw BackendError("compiled code cannot be unpacked to " + display(path) +
                     ": " + what +
                     "; XDG_CACHE_HOME names another place for it");
}

/// Code in it is run, so no other user may have put it there.
void check_owner(const fs::path& folder) {
  struct stat status{};
  if (lstat(folder.c_str(), &status) != 0) {
    fail(folder, std::generic_category().message(errno));
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Unsupported("compiled code is not read from " + display(folder) +
                      ": expected a folder that only this user may write to; "
                      "remove it, or name another place by XDG_CACHE_HOME");
  }
}

/// A folder that is removed unless it is renamed.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& final_path)
      : path_(final_path.string() + kTemporary + "XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      fail(path_, std::generic_category().message(errno));
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const CodeFile& file) const {
    const fs::path target = fs::path(path_) / file.name;
    std::ofstream stream(target, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.bytes.data()),
                 static_cast<std::streamsize>(file.bytes.size()));
    stream.close();
    if (!stream) fail(target, std::generic_category().message(errno));
  }
  /// Another process may have been quicker: its folder holds the same.
  void rename_to(const fs::path& target) {
    std::error_code error;
    fs::rename(path_, target, error);
    if (!error) {
      path_.clear();
    } else if (!fs::is_directory(target)) {
      fail(target, error.message());
    }
  }

 private:
  std::string path_;
};

/// Those of processes that were killed while they unpacked.
void remove_old_temporaries(const fs::path& folder) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const fs::path path = entries->path();
    std::error_code ignored;
    if (path.filename().string().find(kTemporary) != std::string::npos &&
        fs::last_write_time(path, ignored) < old && !ignored) {
      fs::remove_all(path, ignored);
    }
  }
}

}  // namespace

fs::path unpack_code(const Archive& archive) {
  const std::vector<CodeFile> files = code_files(archive);
  const fs::path folder = cache_folder();
  fs::path target = folder / hash_of(files);
  std::error_code error;
  if (!fs::exists(target, error)) {
    fs::create_directories(folder, error);
    if (error) fail(folder, error.message());
    remove_old_temporaries(folder);
    TemporaryFolder temporary(target);
    for (const CodeFile& file : files) temporary.write(file);
    temporary.rename_to(target);
  }
  check_owner(target);
  return target;
}

}  // namespace modelrun::torch
