// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_program.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>

#include "artifact/mapped_file.h"
#include "artifact/onnx_scanner.h"
#include "artifact/printable.h"
#include "artifact/protobuf_wire.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

// What else is often found under the name of a program.
void refuse_other_content(std::string_view text, const std::string& label) {
  if (text.empty()) {
    throw InvalidArgument(label + ": is empty: download or export it again");
  }
  if (text.starts_with("version https://git-lfs")) {
    throw InvalidArgument(label +
                          ": is a Git LFS pointer, not the program: fetch the "
                          "file itself (git lfs pull)");
  }
  if (text.starts_with("<")) {
    throw InvalidArgument(label +
                          ": is a web page or XML, not an ONNX program: "
                          "download it again");
  }
}

std::string label_of(const OnnxExternalData& data, const fs::path& file) {
  return display(file) + ": " + data.holder + " " +
         (data.tensor.empty() ? "" : printable(data.tensor) + " ") +
         "(external data)";
}

struct DataFile {
  fs::path path;
  std::uint64_t size = 0;
};

DataFile find_data_file(const OnnxExternalData& data, const fs::path& program) {
  const std::string label = label_of(data, program);
  DataFile file;
  file.path = resolve_within(program.parent_path(), data.location, label);
  std::error_code error;
  if (fs::is_regular_file(file.path, error)) {
    file.size = fs::file_size(file.path, error);
  } else if (!error) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
  }
  if (error) {
    throw NotFound(label + ": there is no file " + display(file.path) +
                   ": it goes with the program, copy or download it, too");
  }
  return file;
}

void check_size(const OnnxExternalData& data, const DataFile& file,
                const fs::path& program) {
  std::uint64_t end = 0;
  if (!__builtin_add_overflow(data.offset, data.length, &end) &&
      end <= file.size) {
    return;
  }
  throw InvalidArgument(
      label_of(data, program) + ": " + display(file.path) + " has " +
      std::to_string(file.size) + " bytes, but " + std::to_string(data.length) +
      " are needed from byte " + std::to_string(data.offset) +
      " on: it is cut off or of another export, download it again");
}

}  // namespace

OnnxProgram parse_onnx_program(std::span<const std::uint8_t> bytes,
                               const fs::path& file) {
  const std::string label = display(file);
  refuse_other_content(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, label);
  OnnxProgram program;
  program.file = file;
  try {
    OnnxScanner(program).scan_model(bytes);
  } catch (const WireError& error) {
    throw InvalidArgument(label + ": is no valid ONNX program, at byte " +
                          std::to_string(error.where - bytes.data()) + ": " +
                          error.what());
  }
  return program;
}

OnnxProgram load_onnx_program(const fs::path& file) {
  const MappedFile mapped(file);
  return parse_onnx_program(mapped.bytes(), file);
}

std::vector<fs::path> external_data_files(const OnnxProgram& program) {
  std::map<std::string_view, DataFile> by_location;
  std::vector<fs::path> files;
  for (const OnnxExternalData& data : program.external_data) {
    auto found = by_location.find(data.location);
    if (found == by_location.end()) {
      found =
          by_location.emplace(data.location, find_data_file(data, program.file))
              .first;
      files.push_back(found->second.path);
    }
    check_size(data, found->second, program.file);
  }
  return files;
}

}  // namespace modelrun
