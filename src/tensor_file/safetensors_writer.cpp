// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "artifact/printable.h"
#include "modelrun/error.h"
#include "tensor_file/atomic_file.h"
#include "tensor_file/json_tensors.h"
#include "tensor_file/safetensors.h"
#include "tensor_file/safetensors_dtype.h"

namespace modelrun::detail {
namespace {

constexpr std::size_t kAlignment = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct Item {
  std::size_t order;  // of its dtype in the file
  const std::pair<std::string, Tensor>* named;
};

std::vector<Item> sorted_items(const Safetensors& content) {
  std::vector<Item> items;
  for (const auto& named : content.tensors) {
    if (named.first == kMetadata) {
      throw InvalidArgument("cannot save " + printable(named.first) +
                            ": a safetensors file keeps its metadata under "
                            "this name, rename it");
    }
    const auto known =
        std::find_if(kSafetensorsDTypes.begin(), kSafetensorsDTypes.end(),
                     [&](const auto& entry) {
                       return entry.second == named.second.dtype();
                     });
    if (known == kSafetensorsDTypes.end()) {
      throw Unsupported("cannot save " + printable(named.first) +
                        ": a safetensors file has no " +
                        std::string(name(named.second.dtype())));
    }
    items.push_back(
        {static_cast<std::size_t>(known - kSafetensorsDTypes.begin()), &named});
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.order != b.order ? a.order < b.order
                              : a.named->first < b.named->first;
  });
  return items;
}

void append_field(std::string& text, std::string_view name) {
  if (text.size() > 1) text += ',';
  text += json_quoted(name);
  text += ':';
}

std::string metadata_text(const Safetensors& content) {
  std::string text = "{";
  for (const auto& [name, value] : content.metadata) {
    append_field(text, name);
    text += json_quoted(value);
  }
  return text + "}";
}

std::string header_text(const Safetensors& content,
                        const std::vector<Item>& items) {
  std::string text = "{";
  if (!content.metadata.empty()) {
    append_field(text, kMetadata);
    text += metadata_text(content);
  }
  std::size_t offset = 0;
  for (const Item& item : items) {
    const auto& [name, tensor] = *item.named;
    append_field(text, name);
    text += "{\"dtype\":\"";
    text += kSafetensorsDTypes[item.order].first;
    text += "\",\"shape\":[";
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
      if (axis > 0) text += ',';
      text += std::to_string(tensor.shape()[axis]);
    }
    text += "],\"data_offsets\":[" + std::to_string(offset) + ',';
    offset += tensor.byte_size();
    text += std::to_string(offset) + "]}";
  }
  text += '}';
  // Padded, so that the tensors are aligned in a mapped file.
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

void save_safetensors(const Safetensors& content,
                      const std::filesystem::path& path) {
  const auto items = sorted_items(content);
  const std::string header = header_text(content, items);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const Item& item : items) {
    const Tensor& tensor = item.named->second;
    file.write(tensor.raw_data(), tensor.byte_size());
  }
  file.commit();
}

}  // namespace modelrun::detail
