// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace modelrun::plugin {

/// How one key of a session's options is read into a plugin's struct.
template <typename Options>
struct OptionReader {
  const char* key;
  void (*read)(Options&, const nlohmann::json&);
};

/// As messages show a value: cut when it is long.
[[nodiscard]] std::string shown_json(const nlohmann::json& value);

/// Throws Failure: the option `key` of `plugin` is of another type.
[[noreturn]] void refuse_option(const char* plugin, const std::string& key,
                                const std::string& expected,
                                const nlohmann::json& value);

[[noreturn]] void refuse_unknown_option(const char* plugin,
                                        const std::string& key,
                                        const std::vector<std::string>& known);

/// The value of the option `threads`.
[[nodiscard]] int read_threads(const char* plugin, const nlohmann::json& value);

/// A text, at least one character long.
[[nodiscard]] std::string read_text(const char* plugin, const std::string& key,
                                    const nlohmann::json& value);

/// The object in `text` (NULL: an empty one).
[[nodiscard]] nlohmann::json parse_option_object(const char* plugin,
                                                 const char* text);

template <typename Options>
std::vector<std::string> keys_of(
    std::span<const OptionReader<Options>> readers) {
  std::vector<std::string> keys;
  for (const auto& reader : readers) keys.emplace_back(reader.key);
  return keys;
}

/// Reads every member of `object`; throws Failure on a key that no reader has.
template <typename Options>
void read_options(const char* plugin,
                  std::span<const OptionReader<Options>> readers,
                  const nlohmann::json& object, Options& options) {
  for (const auto& [key, value] : object.items()) {
    bool known = false;
    for (const auto& reader : readers) {
      if (key != reader.key) continue;
      reader.read(options, value);
      known = true;
    }
    if (!known) refuse_unknown_option(plugin, key, keys_of(readers));
  }
}

}  // namespace modelrun::plugin
