// SPDX-License-Identifier: Apache-2.0
#include "artifact/json_text.h"

#include <cstddef>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

constexpr std::size_t kMaxDepth = 128;

// JSON has no word for these three; strings of this prefix carry them through
// the parser, which then turns them into numbers.
constexpr std::string_view kNumberMark{"\0number:", 8};

double marked_number(std::string_view name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "Infinity") return kInfinity;
  if (name == "-Infinity") return -kInfinity;
  return std::numeric_limits<double>::quiet_NaN();
}

// Replaces the words NaN, Infinity and -Infinity outside of strings.
std::string mark_python_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      out += text[i];
      if (text[i] == '"') in_string = false;
      if (text[i] == '\\' && i + 1 < text.size()) out += text[++i];
      continue;
    }
    std::string_view word;
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"}) {
      if (text.substr(i, name.size()) == name) word = name;
    }
    if (word.empty()) {
      in_string = text[i] == '"';
      out += text[i];
      continue;
    }
    out += "\"\\u0000number:";
    out += word;
    out += '"';
    i += word.size() - 1;
  }
  return out;
}

// Builds the value in linear time: the library's own builder searches an
// ordered object for each key that it adds.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const std::string& what) : what_(what) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override {
    return add(value);
  }
  bool string(std::string& value) override {
    if (value.compare(0, kNumberMark.size(), kNumberMark) == 0) {
      return add(
          marked_number(std::string_view(value).substr(kNumberMark.size())));
    }
    return add(std::move(value));
  }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return open(Json::object());
  }
  bool end_object() override {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(std::string& value) override {
    if (!keys_.back().insert(value).second) {
      throw InvalidArgument(what_ + ": the key " + printable(value) +
                            " stands twice in one object");
    }
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at ...: reason"
    std::string_view reason = error.what();
    if (const auto end = reason.find("] "); end != reason.npos) {
      reason.remove_prefix(end + 2);
    }
    const std::size_t cause = reason.find(" - ");
    if (cause != reason.npos) reason.remove_prefix(cause + 3);
    throw InvalidArgument(what_ + ": is not JSON, at byte " +
                          std::to_string(position) + ": " +
                          std::string(reason.substr(0, 200)));
  }

 private:
  template <typename T>
  bool add(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= kMaxDepth) {
      throw InvalidArgument(what_ + ": is nested deeper than " +
                            std::to_string(kMaxDepth) + " levels");
    }
    open_.push_back(place(std::move(value)));
    return true;
  }

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (auto* items = parent.get_ptr<Json::array_t*>()) {
      return &items->emplace_back(std::move(value));
    }
    // Past ordered_map's own emplace, which searches.
    Json::object_t::Container& entries = *parent.get_ptr<Json::object_t*>();
    return &entries.emplace_back(std::move(key_), std::move(value)).second;
  }

  const std::string& what_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> keys_;
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& what) {
  if (const auto bad = find_invalid_utf8(text); bad != text.npos) {
    throw InvalidArgument(what + ": is not UTF-8, at byte " +
                          std::to_string(bad));
  }
  Builder builder(what);
  Json::sax_parse(mark_python_numbers(text), &builder);
  return builder.take();
}

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array of " + std::to_string(value.size());
    case Json::value_t::string:
      return "the string " + printable(value.get_ref<const std::string&>());
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::null:
      return "null";
    default:
      return "the number " + value.dump();
  }
}

void fail_json(const std::string& where, std::string_view expected,
               const Json& value) {
  throw InvalidArgument(where + ": expected " + std::string(expected) +
                        ", got " + describe(value));
}

const std::string& json_string(const Json& value, const std::string& where) {
  if (!value.is_string()) fail_json(where, "a string", value);
  return value.get_ref<const std::string&>();
}

std::int64_t json_integer(const Json& value, const std::string& where) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMax))) {
    fail_json(where, "a 64-bit integer", value);
  }
  return value.get<std::int64_t>();
}

Scalar json_scalar(const Json& value, const std::string& where) {
  if (value.is_null()) return std::monostate();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get_ref<const std::string&>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number()) return json_integer(value, where);
  fail_json(where, "null, a bool, a number or a string", value);
}

const Json::object_t& json_object(const Json& value, const std::string& where) {
  if (!value.is_object()) fail_json(where, "an object", value);
  return value.get_ref<const Json::object_t&>();
}

const Json::array_t& json_array(const Json& value, const std::string& where) {
  if (!value.is_array()) fail_json(where, "an array", value);
  return value.get_ref<const Json::array_t&>();
}

const Json* json_find(const Json::object_t& object,
                      std::string_view key) noexcept {
  for (const auto& [name, value] : object) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace modelrun
