// SPDX-License-Identifier: Apache-2.0
#include "modelrun/tensor_file.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "tensor_file/flat_values.h"
#include "tensor_file/json_tensors.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

namespace modelrun {
namespace {

[[noreturn]] void refuse_extension(const std::filesystem::path& path) {
  throw InvalidArgument("cannot tell the format of " + display(path) +
                        ": expected a name that ends in .safetensors, .npz, "
                        ".npy or .json");
}

NamedValues read_safetensors(const std::filesystem::path& path) {
  detail::Safetensors content = detail::load_safetensors(path);
  NamedValues values;
  for (auto& [name, tensor] : content.tensors) {
    values.emplace_back(std::move(name), std::move(tensor));
  }
  std::unordered_set<std::string> taken;
  for (const auto& [name, value] : values) taken.insert(name);
  for (const auto& [key, text] : content.metadata) {
    if (key != detail::kScalarsName) continue;
    const std::string what = display(path) + ": __metadata__: " + key;
    for (auto& [name, scalar] : detail::scalars_from_json(text, what)) {
      if (taken.contains(name)) {
        throw InvalidArgument(what + ": " + printable(name) +
                              " is a tensor, too");
      }
      values.emplace_back(std::move(name), std::move(scalar));
    }
  }
  return values;
}

void write_safetensors(detail::FlatValues values,
                       const std::filesystem::path& path) {
  detail::Safetensors content;
  content.tensors = std::move(values.tensors);
  if (!values.scalars.empty()) {
    content.metadata.emplace_back(detail::kScalarsName,
                                  detail::scalars_to_json(values.scalars));
  }
  detail::save_safetensors(content, path);
}

void write_npy(const detail::FlatValues& values,
               const std::filesystem::path& path) {
  if (values.tensors.size() != 1 || !values.scalars.empty()) {
    throw InvalidArgument(
        "cannot save " + display(path) +
        ": a .npy file holds one tensor, got " +
        std::to_string(values.tensors.size()) + " tensors and " +
        std::to_string(values.scalars.size()) + " scalars: save .npz");
  }
  detail::save_npy(values.tensors.front().second, path);
}

}  // namespace

NamedValues load_tensors(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".safetensors") return read_safetensors(path);
  if (extension == ".npz") return detail::load_npz(path);
  if (extension == ".json") return detail::load_json_tensors(path);
  if (extension != ".npy") refuse_extension(path);
  NamedValues values;
  values.emplace_back(path.stem().string(), detail::load_npy(path));
  return values;
}

void save_tensors(const NamedValues& values,
                  const std::filesystem::path& path) {
  const auto extension = path.extension();
  detail::FlatValues flat = detail::flatten(values);
  if (extension == ".safetensors") {
    write_safetensors(std::move(flat), path);
  } else if (extension == ".npz") {
    detail::save_npz(flat, path);
  } else if (extension == ".json") {
    detail::save_json_tensors(flat, path);
  } else if (extension == ".npy") {
    write_npy(flat, path);
  } else {
    refuse_extension(path);
  }
}

}  // namespace modelrun
