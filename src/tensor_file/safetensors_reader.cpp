// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "tensor_file/mapped_tensors.h"
#include "tensor_file/safetensors.h"
#include "tensor_file/safetensors_dtype.h"

namespace modelrun::detail {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian");

// The format's own limit.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kPrefix = sizeof(std::uint64_t);

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin;
  std::uint64_t end;
};

const Json& required(const Json::object_t& object, std::string_view key,
                     const std::string& where) {
  const Json* value = json_find(object, key);
  if (value != nullptr) return *value;
  throw InvalidArgument(where + ": " + std::string(key) + " is missing");
}

std::uint64_t unsigned_number(const Json& value, const std::string& where) {
  const std::int64_t number = json_integer(value, where);
  if (number < 0) fail_json(where, "a number that is not negative", value);
  return static_cast<std::uint64_t>(number);
}

DType read_dtype(const Json& value, const std::string& where) {
  const std::string& text = json_string(value, where + ": dtype");
  for (const auto& [name, dtype] : kSafetensorsDTypes) {
    if (name == text) return dtype;
  }
  for (const auto& name : kForeignSafetensorsDTypes) {
    if (name == text) {
      throw Unsupported(where + ": dtype " + printable(text) +
                        " is not one that modelrun has: convert the tensor");
    }
  }
  throw InvalidArgument(where + ": unknown dtype " + printable(text));
}

Shape read_shape(const Json& value, const std::string& where) {
  std::vector<std::int64_t> sizes;
  for (const Json& size : json_array(value, where)) {
    sizes.push_back(static_cast<std::int64_t>(unsigned_number(size, where)));
  }
  return Shape(sizes);
}

Entry read_entry(const std::string& name, const Json& value,
                 const std::string& file) {
  const std::string where = file + ": tensor " + printable(name);
  const auto& fields = json_object(value, where);
  for (const auto& [key, ignored] : fields) {
    if (key == "dtype" || key == "shape" || key == "data_offsets") continue;
    throw InvalidArgument(where + ": unknown field " + printable(key));
  }
  const DType dtype = read_dtype(required(fields, "dtype", where), where);
  Shape shape = read_shape(required(fields, "shape", where), where + ": shape");
  const std::string at = where + ": data_offsets";
  const Json& offsets = required(fields, "data_offsets", where);
  if (json_array(offsets, at).size() != 2) {
    fail_json(at, "a begin and an end", offsets);
  }
  const std::uint64_t begin = unsigned_number(offsets[0], at);
  const std::uint64_t end = unsigned_number(offsets[1], at);
  std::size_t size = 0;
  try {
    size = byte_size(dtype, shape.element_count());
  } catch (const InvalidArgument&) {
    throw InvalidArgument(where + ": shape " + to_string(shape) +
                          " is larger than memory");
  }
  if (end < begin || end - begin != size) {
    throw InvalidArgument(at + ": " + std::string(modelrun::name(dtype)) +
                          to_string(shape) + " takes " + std::to_string(size) +
                          " bytes, got " + std::to_string(begin) + " to " +
                          std::to_string(end));
  }
  return {name, dtype, std::move(shape), begin, end};
}

// The entries must lie end to end, from the first byte to the last.
void check_offsets(const std::vector<Entry>& entries, std::uint64_t size,
                   const std::string& file) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(entries[a].begin, entries[a].end) <
           std::pair(entries[b].begin, entries[b].end);
  });
  std::uint64_t next = 0;
  for (const std::size_t i : order) {
    const Entry& entry = entries[i];
    if (entry.begin != next) {
      throw InvalidArgument(file + ": tensor " + printable(entry.name) +
                            " begins at byte " + std::to_string(entry.begin) +
                            ", expected " + std::to_string(next) +
                            ": tensors may not overlap or leave holes");
    }
    next = entry.end;
  }
  if (next != size) {
    throw InvalidArgument(file + ": the header describes " +
                          std::to_string(next) + " bytes of tensors, got " +
                          std::to_string(size) +
                          ": the file was cut short or is damaged");
  }
}

Json read_header(std::string_view bytes, const std::string& file) {
  std::uint64_t length = 0;
  if (bytes.size() < kPrefix) {
    throw InvalidArgument(file + ": is too short for a safetensors file");
  }
  std::memcpy(&length, bytes.data(), kPrefix);
  bytes.remove_prefix(kPrefix);
  if (length > kMaxHeader || length > bytes.size()) {
    throw InvalidArgument(
        file + ": a header of " + std::to_string(length) + " bytes does not " +
        "fit the file: it was cut short or is not a safetensors file");
  }
  if (!bytes.starts_with('{')) {
    throw InvalidArgument(file + ": the header does not begin with '{': " +
                          "it is not a safetensors file");
  }
  return parse_json(bytes.substr(0, length), file + ": header");
}

}  // namespace

Safetensors load_safetensors(const std::filesystem::path& path) {
  constexpr std::string_view kMetadata = "__metadata__";
  const auto file = MappedTensors::open(path);
  const std::string name = display(path);
  const Json header = read_header(file->bytes(), name);
  std::uint64_t length = 0;
  std::memcpy(&length, file->bytes().data(), kPrefix);

  Safetensors content;
  std::vector<Entry> entries;
  for (const auto& [key, value] : json_object(header, name + ": header")) {
    if (key != kMetadata) {
      entries.push_back(read_entry(key, value, name));
      continue;
    }
    const std::string where = name + ": __metadata__";
    for (const auto& [field, text] : json_object(value, where)) {
      content.metadata.emplace_back(
          field, json_string(text, where + ": " + printable(field)));
    }
  }
  const std::size_t start = kPrefix + static_cast<std::size_t>(length);
  check_offsets(entries, file->bytes().size() - start, name);
  for (Entry& entry : entries) {
    Tensor tensor =
        file->tensor(start + static_cast<std::size_t>(entry.begin),
                     {.dtype = entry.dtype, .shape = std::move(entry.shape)});
    check_bools(tensor, name + ": tensor " + printable(entry.name));
    content.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return content;
}

}  // namespace modelrun::detail
