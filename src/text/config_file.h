// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "artifact/json_text.h"

namespace modelrun::detail {

/// One configuration file of a model: a JSON object whose fields are read by
/// type. A field that is absent or null gives nothing; one of another type
/// throws `InvalidArgument` with the file and the field.
class ConfigFile {
 public:
  /// Nothing when there is no such file.
  [[nodiscard]] static std::optional<ConfigFile> load(
      const std::filesystem::path& path);

  [[nodiscard]] std::optional<std::string> string(std::string_view field) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view field) const;
  /// A number that is no integer is refused; one past `int64` is clamped.
  [[nodiscard]] std::optional<std::int64_t> integer(
      std::string_view field) const;
  [[nodiscard]] std::optional<std::int64_t> positive_integer(
      std::string_view field) const;

  /// The field itself, or null where it is absent or null.
  [[nodiscard]] const Json* find(std::string_view field) const;

  /// Throws that a field should have been something else.
  [[noreturn]] void refuse(std::string_view field, std::string_view expected,
                           const Json& got) const;

  /// The name of a field for messages: `<file>: <field>`.
  [[nodiscard]] std::string where(std::string_view field) const;

 private:
  ConfigFile(std::filesystem::path path, Json content);

  std::filesystem::path path_;
  Json content_;
};

/// Parses a configuration file; throws when it is missing or no JSON.
[[nodiscard]] Json load_json(const std::filesystem::path& path);

}  // namespace modelrun::detail
