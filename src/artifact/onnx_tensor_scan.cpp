// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_tensor_scan.h"

#include <charconv>
#include <cstddef>
#include <limits>

#include "artifact/onnx_types.h"
#include "artifact/printable.h"

namespace modelrun {
namespace {

constexpr std::size_t kMaxRank = 64;

std::uint64_t to_number(std::string_view text, const std::string& what,
                        const std::uint8_t* where) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw WireError(what + " is " + printable(text) + ", expected a number",
                    where);
  }
  return value;
}

}  // namespace

OnnxTensorScan::OnnxTensorScan(std::span<const std::uint8_t> message)
    : begin_(message.data()) {
  WireReader reader(message);
  while (const auto field = reader.next()) scan(*field);
}

void OnnxTensorScan::scan(const WireField& field) {
  switch (field.number) {
    case 1:
      scan_dims(field);
      break;
    case 2:
      type_ = field.integer();
      break;
    case 8:
      name_ = field.text();
      break;
    case 9:
      raw_ = true;
      [[fallthrough]];
    case 4:
    case 5:
    case 6:
    case 7:
    case 10:
    case 11:
      stored_ += field.bytes.size();
      break;
    case 13:
      scan_entry(WireReader(field.message()));
      break;
    case 14:
      external_ = field.integer() == 1;
      break;
    default:
      break;
  }
}

void OnnxTensorScan::scan_dims(const WireField& field) {
  if (field.wire_type == 2) {
    WireReader packed(field.bytes);
    while (const auto size = packed.next_packed()) dims_.push_back(*size);
  } else {
    dims_.push_back(field.integer());
  }
  if (dims_.size() > kMaxRank) {
    throw WireError(
        "holds a tensor of more than " + std::to_string(kMaxRank) + " axes",
        field.begin);
  }
}

void OnnxTensorScan::scan_entry(WireReader reader) {
  std::string_view key;
  std::string_view value;
  while (const auto field = reader.next()) {
    if (field->number == 1) key = field->text();
    if (field->number == 2) value = field->text();
  }
  entries_[key] = value;
}

std::string OnnxTensorScan::label() const {
  return "tensor " + printable(name_);
}

std::string_view OnnxTensorScan::entry(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? "" : found->second;
}

// Nothing for strings and for types to come.
std::optional<std::uint64_t> OnnxTensorScan::needed() const {
  const OnnxElement* element = onnx_element(type_);
  std::uint64_t count = 1;
  for (const std::int64_t size : dims_) {
    if (size < 0 || __builtin_mul_overflow(
                        count, static_cast<std::uint64_t>(size), &count)) {
      throw WireError(label() + " has an impossible shape", begin_);
    }
  }
  if (element == nullptr || element->bits == 0) return std::nullopt;
  constexpr std::uint64_t kMaxBits = std::numeric_limits<std::int64_t>::max();
  if (count > kMaxBits / element->bits) {
    throw WireError(label() + " has an impossible shape", begin_);
  }
  return (count * element->bits + 7) / 8;
}

std::uint64_t OnnxTensorScan::byte_size() const {
  return needed().value_or(stored_);
}

void OnnxTensorScan::check_content() const {
  const std::optional<std::uint64_t> size = needed();
  if (!raw_ || external_ || !size || stored_ == *size) return;
  throw WireError(label() + " holds " + std::to_string(stored_) +
                      " bytes, its shape needs " + std::to_string(*size),
                  begin_);
}

OnnxExternalData OnnxTensorScan::external_data(
    const std::string& holder) const {
  OnnxExternalData data;
  data.tensor = name_;
  data.holder = holder;
  data.location = entry("location");
  if (data.location.empty()) {
    throw WireError(
        label() + " lies in another file, but its location is missing", begin_);
  }
  const std::string_view offset = entry("offset");
  const std::string_view length = entry("length");
  if (!offset.empty()) {
    data.offset = to_number(offset, "the offset of " + label(), begin_);
  }
  const std::uint64_t size = needed().value_or(0);
  data.length = size;
  if (!length.empty()) {
    data.length = to_number(length, "the length of " + label(), begin_);
  }
  if (data.length < size) {
    throw WireError(label() + " records a length of " +
                        std::to_string(data.length) +
                        " bytes, its shape needs " + std::to_string(size),
                    begin_);
  }
  return data;
}

}  // namespace modelrun
