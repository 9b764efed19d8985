// SPDX-License-Identifier: Apache-2.0
#include "text/config_file.h"

#include <limits>
#include <system_error>
#include <utility>

#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

// tokenizer_config.json lists added tokens and chat templates: some MiB.
constexpr std::size_t kLargest = std::size_t{256} << 20;

}  // namespace

Json load_json(const std::filesystem::path& path) {
  return parse_json(load_text(path, kLargest), display(path));
}

ConfigFile::ConfigFile(std::filesystem::path path, Json content)
    : path_(std::move(path)), content_(std::move(content)) {}

std::optional<ConfigFile> ConfigFile::load(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  Json content = load_json(path);
  if (!content.is_object()) fail_json(display(path), "an object", content);
  return ConfigFile(path, std::move(content));
}

const Json* ConfigFile::find(std::string_view field) const {
  const auto& object = content_.get_ref<const Json::object_t&>();
  const Json* value = json_find(object, field);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::string> ConfigFile::string(std::string_view field) const {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(field, "a string", *value);
  return value->get<std::string>();
}

std::optional<bool> ConfigFile::boolean(std::string_view field) const {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(field, "true or false", *value);
  return value->get<bool>();
}

std::optional<std::int64_t> ConfigFile::integer(std::string_view field) const {
  using Limits = std::numeric_limits<std::int64_t>;
  // The first double past int64.
  constexpr double kPast = 9223372036854775808.0;
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_float()) {
    // 1000000000000000019884624838656 stands for "no limit" in many files.
    const auto number = value->get<double>();
    if (number >= kPast) return Limits::max();
    if (number >= -kPast) {
      const auto whole = static_cast<std::int64_t>(number);
      if (static_cast<double>(whole) == number) return whole;
    }
  } else if (value->is_number_unsigned()) {
    const auto number = value->get<std::uint64_t>();
    constexpr std::uint64_t kMost = Limits::max();
    return static_cast<std::int64_t>(number < kMost ? number : kMost);
  } else if (value->is_number_integer()) {
    return value->get<std::int64_t>();
  }
  refuse(field, "an integer", *value);
}

std::optional<std::int64_t> ConfigFile::positive_integer(
    std::string_view field) const {
  const auto number = integer(field);
  if (number && *number <= 0) refuse(field, "a positive integer", *find(field));
  return number;
}

std::string ConfigFile::where(std::string_view field) const {
  return display(path_) + ": " + std::string(field);
}

void ConfigFile::refuse(std::string_view field, std::string_view expected,
                        const Json& got) const {
  fail_json(where(field), expected, got);
}

}  // namespace modelrun::detail
