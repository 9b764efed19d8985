// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_config.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/config_file.h"

namespace modelrun::detail {
namespace {

constexpr std::array<std::string_view, 7> kSpecialTokens = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"};

// A token stands as its text, or as an object that also says how it matches.
std::optional<std::string> token_text(const ConfigFile& file,
                                      std::string_view field) {
  constexpr auto kExpected = "a string or an object with a string 'content'";
  const auto* value = file.find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  if (!value->is_object()) file.refuse(field, kExpected, *value);
  const auto content = value->find("content");
  if (content == value->end() || !content->is_string()) {
    file.refuse(field, kExpected, *value);
  }
  return content->get<std::string>();
}

std::optional<Side> side(const ConfigFile& file, std::string_view field) {
  const auto text = file.string(field);
  if (!text) return std::nullopt;
  if (*text == "left") return Side::left;
  if (*text == "right") return Side::right;
  file.refuse(field, "\"left\" or \"right\"", *text);
}

std::optional<std::vector<std::string>> strings(const ConfigFile& file,
                                                std::string_view field) {
  const auto* value = file.find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) file.refuse(field, "a list of strings", *value);
  std::vector<std::string> texts;
  for (const auto& item : *value) {
    if (!item.is_string()) file.refuse(field, "a list of strings", item);
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

void apply_config(const ConfigFile& file, TokenizerConfig& config) {
  if (const auto length = file.positive_integer("model_max_length")) {
    // transformers writes a huge number where the model sets no limit.
    constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
    if (*length != kNoLimit) config.model_max_length = *length;
  }
  if (const auto value = side(file, "padding_side")) {
    config.padding_side = *value;
  }
  if (const auto value = side(file, "truncation_side")) {
    config.truncation_side = *value;
  }
  if (auto names = strings(file, "model_input_names")) {
    config.model_input_names = std::move(*names);
  }
  if (const auto id = file.integer("pad_token_type_id")) {
    config.pad_token_type_id = *id;
  }
  config.clean_up_tokenization_spaces =
      file.boolean("clean_up_tokenization_spaces").value_or(false);
}

}  // namespace

void apply_tokenizer_files(const std::filesystem::path& directory,
                           TokenizerConfig& config) {
  const auto file = ConfigFile::load(directory / "tokenizer_config.json");
  if (file) apply_config(*file, config);
  const auto map = ConfigFile::load(directory / "special_tokens_map.json");
  for (const auto name : kSpecialTokens) {
    std::optional<std::string> token;
    if (file) token = token_text(*file, name);
    if (!token && map) token = token_text(*map, name);
    if (token)
      config.special_tokens.insert_or_assign(std::string(name), *token);
  }
}

}  // namespace modelrun::detail
