// SPDX-License-Identifier: Apache-2.0
#include "tensor_file/npy_header.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// numpy's own limit for a header that it is not told to trust.
constexpr std::size_t kMaxHeader = 10'000;
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kAlignment = 64;

constexpr std::array<std::pair<std::string_view, DType>, 12> kDescriptions = {
    {{"|b1", DType::bool_},
     {"|u1", DType::uint8},
     {"<u2", DType::uint16},
     {"<u4", DType::uint32},
     {"<u8", DType::uint64},
     {"|i1", DType::int8},
     {"<i2", DType::int16},
     {"<i4", DType::int32},
     {"<i8", DType::int64},
     {"<f2", DType::float16},
     {"<f4", DType::float32},
     {"<f8", DType::float64}}};

DType dtype_of_description(std::string_view text, const std::string& what) {
  for (const auto& [name, dtype] : kDescriptions) {
    if (name == text) return dtype;
  }
  const std::string got = what + ": dtype " + printable(text);
  if (text.starts_with('>')) {
    throw Unsupported(got + " is big-endian: save array.astype(" +
                      "array.dtype.newbyteorder('<'))");
  }
  if (text.find('O') != text.npos) {
    throw Unsupported(got + " holds pickled Python objects, which are never " +
                      "opened: save numbers");
  }
  throw Unsupported(got +
                    " is not one that modelrun has: save a bool, an "
                    "integer or a float (bfloat16: in .safetensors)");
}

// Reads the Python dict of a header, and nothing else of Python.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& what)
      : text_(text), what_(what) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      read_field();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("the end of the header");
    if (!descr_ || !fortran_order_ || !shape_) {
      fail("the keys descr, fortran_order and shape");
    }
    NpyHeader header;
    header.dtype = dtype_of_description(*descr_, what_);
    header.fortran_order = *fortran_order_;
    header.shape = Shape(*shape_);
    return header;
  }

 private:
  void read_field() {
    const std::string_view key = read_string();
    expect(':');
    if (key == "descr" && !descr_) {
      skip_space();
      if (at_ < text_.size() && text_[at_] == '[') {
        throw Unsupported(what_ +
                          ": a structured dtype is not one that "
                          "modelrun has: save one array a field");
      }
      descr_ = read_string();
    } else if (key == "fortran_order" && !fortran_order_) {
      fortran_order_ = read_bool();
    } else if (key == "shape" && !shape_) {
      shape_ = read_shape();
    } else {
      fail("descr, fortran_order and shape, each once");
    }
  }

  std::string_view read_string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a string");
    const auto end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("the end of a string");
    const auto value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  bool read_bool() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::vector<std::int64_t> read_shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      if (sizes.size() == kMaxRank) fail("at most 64 axes");
      sizes.push_back(read_size());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return sizes;
  }

  std::int64_t read_size() {
    skip_space();
    std::int64_t size = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] =
        std::from_chars(begin, text_.data() + text_.size(), size);
    if (error != std::errc() || size < 0) fail("the size of an axis");
    at_ += static_cast<std::size_t>(end - begin);
    return size;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  bool accept(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail("'" + std::string(1, wanted) + "'");
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw InvalidArgument(what_ + ": the .npy header is damaged: expected " +
                          expected + " at " +
                          printable(text_.substr(std::min(at_, text_.size()))));
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

unsigned byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

// Before the dict: the magic, two bytes of version, two or four of length.
std::size_t dict_offset(std::string_view bytes, const std::string& what) {
  if (bytes.size() < kNpyPrefix || !bytes.starts_with(kMagic)) {
    throw InvalidArgument(what + ": is not a .npy array");
  }
  const unsigned version = byte_at(bytes, kMagic.size());
  if (version < 1 || version > 3 || byte_at(bytes, kMagic.size() + 1) != 0) {
    throw InvalidArgument(what + ": version " + std::to_string(version) +
                          " of the .npy format is not known, expected 1 to 3");
  }
  return version == 1 ? 10 : 12;
}

}  // namespace

std::size_t npy_header_length(std::string_view prefix,
                              const std::string& what) {
  const std::size_t begin = dict_offset(prefix, what);
  std::size_t length = byte_at(prefix, 8) | byte_at(prefix, 9) << 8;
  if (begin == 12) {
    length |= static_cast<std::size_t>(byte_at(prefix, 10)) << 16 |
              static_cast<std::size_t>(byte_at(prefix, 11)) << 24;
  }
  if (length > kMaxHeader) {
    throw InvalidArgument(what + ": a .npy header of " +
                          std::to_string(length) + " bytes is too long");
  }
  return std::max(begin + length, kNpyPrefix);
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& what) {
  const std::size_t end = npy_header_length(bytes, what);
  const std::size_t begin = dict_offset(bytes, what);
  if (end > bytes.size()) {
    throw InvalidArgument(what + ": the .npy header is cut short");
  }
  NpyHeader header =
      HeaderParser(bytes.substr(begin, end - begin), what).parse();
  header.offset = end;
  try {
    header.data_size = byte_size(header.dtype, header.shape.element_count());
  } catch (const InvalidArgument&) {
    throw InvalidArgument(what + ": shape " + to_string(header.shape) +
                          " is larger than memory");
  }
  return header;
}

std::string make_npy_header(const Tensor& tensor, const std::string& what) {
  std::string_view description;
  for (const auto& [name, dtype] : kDescriptions) {
    if (dtype == tensor.dtype()) description = name;
  }
  if (description.empty()) {
    throw Unsupported(what + ": numpy has no " +
                      std::string(name(tensor.dtype())) +
                      ": save it in .safetensors or .json");
  }
  std::string dict = "{'descr': '" + std::string(description) +
                     "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (axis > 0) dict += ", ";
    dict += std::to_string(tensor.shape()[axis]);
  }
  dict += tensor.rank() == 1 ? ",), }" : "), }";
  constexpr std::size_t kBegin = 10;
  const std::size_t length = kBegin + dict.size() + 1;
  dict.append((kAlignment - length % kAlignment) % kAlignment, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(dict.size() & 0xff),
             static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

}  // namespace modelrun::detail
