// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/linked_weights.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>

#include "artifact/onnx_program.h"
#include "artifact/safe_path.h"

namespace modelrun::onnxruntime {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end())
             .first == folder.end();
}

}  // namespace

LinkedWeights::LinkedWeights(const std::string& program) {
  const OnnxProgram scanned = load_onnx_program(program);
  const fs::path folder = fs::path(program).parent_path();
  const fs::path here = fs::canonical(folder.empty() ? "." : folder);
  std::set<std::string> seen;
  for (const OnnxExternalData& data : scanned.external_data) {
    if (!seen.insert(data.location).second) continue;
    const fs::path file =
        resolve_within(folder, data.location, "external data of " + program);
    if (is_below(fs::weakly_canonical(file), here)) continue;
    locations_.push_back(data.location);
    files_.emplace_back(file);
  }
}

void LinkedWeights::add_to(const Runtime& runtime,
                           OrtSessionOptions* options) const {
  std::vector<const char*> names;
  std::vector<char*> buffers;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto bytes = files_[i].bytes();
    names.push_back(locations_[i].c_str());
    // The C API lacks a const: it only reads.
    buffers.push_back(
        const_cast<char*>(reinterpret_cast<const char*>(bytes.data())));
    lengths.push_back(bytes.size());
  }
  runtime.check(
      runtime.api().AddExternalInitializersFromFilesInMemory(
          options, names.data(), buffers.data(), lengths.data(), names.size()),
      "passing weights that links lead to");
}

}  // namespace modelrun::onnxruntime
