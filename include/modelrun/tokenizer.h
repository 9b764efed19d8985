// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modelrun {

/// How rows of unequal length are filled up.
enum class Padding { do_not_pad, longest, max_length };

/// Which text of a pair is cut when a row is too long.
enum class Truncation {
  do_not_truncate,
  longest_first,
  only_first,
  only_second
};

/// The end of a row at which it is padded or cut.
enum class Side { left, right };

/// How texts are encoded; nothing is padded or cut unless asked.
struct EncodeOptions {
  bool add_special_tokens = true;
  Padding padding = Padding::do_not_pad;
  Truncation truncation = Truncation::do_not_truncate;
  /// Tokens of a row, special ones included, for `Padding::max_length` and
  /// truncation; by default the tokenizer's `model_max_length`.
  std::optional<std::int64_t> max_length = {};
  /// Rounds the padded length up.
  std::optional<std::int64_t> pad_to_multiple_of = {};
  /// By default the tokenizer's own sides.
  std::optional<Side> padding_side = {};
  std::optional<Side> truncation_side = {};
  bool return_offsets_mapping = false;
  /// Threads that may share a batch, the caller's included.
  int threads = 1;
};

/// How ids become text.
struct DecodeOptions {
  bool skip_special_tokens = false;
  /// By default as the tokenizer's configuration says.
  std::optional<bool> clean_up_tokenization_spaces = {};
};

/// A batch of encoded texts: arrays of `[batch, sequence]`, row by row.
struct Encoding {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::vector<std::int64_t> input_ids;
  std::vector<std::int64_t> attention_mask;
  std::vector<std::int64_t> token_type_ids;
  std::vector<std::int64_t> special_tokens_mask;
  /// Begin and end in bytes of the row's text (of its own text in a pair);
  /// empty unless `return_offsets_mapping`.
  std::vector<std::array<std::int64_t, 2>> offset_mapping;
  /// Tokens of each row without its padding, `[batch]`.
  std::vector<std::int64_t> lengths;
};

/// Overrides of what a tokenizer's files say.
struct TokenizerOptions {
  std::optional<std::int64_t> model_max_length = {};
  /// Lowercases every text first, whatever the tokenizer does itself.
  bool do_lower_case = false;
};

/// What a tokenizer's files say about its use.
struct TokenizerConfig {
  std::optional<std::int64_t> model_max_length;
  Side padding_side = Side::right;
  Side truncation_side = Side::right;
  std::vector<std::string> model_input_names = {"input_ids", "token_type_ids",
                                                "attention_mask"};
  /// By name, such as `pad_token` or `eos_token`.
  std::map<std::string, std::string, std::less<>> special_tokens;
  std::int64_t pad_token_type_id = 0;
  bool clean_up_tokenization_spaces = false;
  /// The truncation and padding that `tokenizer.json` itself asks for. They
  /// are never applied; only `EncodeOptions` pad and cut.
  std::optional<std::int64_t> baked_max_length;
  Padding baked_padding = Padding::do_not_pad;
  std::optional<std::int64_t> baked_padding_length;
};

/// Turns text into a model's input ids and back, as the fast tokenizers of
/// transformers do.
///
///     auto tokenizer = Tokenizer::from_pretrained("all-MiniLM-L6-v2");
///     std::vector<std::string> texts = {"a sentence", "another"};
///     Encoding encoding = tokenizer(texts, {.padding = Padding::longest});
///     encoding.input_ids;  // [2, 4]
///
/// A copy is cheap and shares its data. Thread-safe.
class Tokenizer {
 public:
  /// Reads `tokenizer.json`, and `tokenizer_config.json` and
  /// `special_tokens_map.json` where they are, from a directory. Throws
  /// `NotFound` or `InvalidArgument`, naming the file and the field.
  [[nodiscard]] static Tokenizer from_pretrained(
      const std::filesystem::path& directory,
      const TokenizerOptions& options = {});

  /// Reads the content of a `tokenizer.json` alone.
  [[nodiscard]] static Tokenizer from_json(
      std::string_view json, const TokenizerOptions& options = {});

  /// Encodes one text, as a batch of one. Throws `InvalidArgument` for text
  /// that is not UTF-8 and for options that cannot be met.
  [[nodiscard]] Encoding operator()(std::string_view text,
                                    const EncodeOptions& options = {}) const;

  /// Encodes a batch. Rows of unequal length need a padding.
  [[nodiscard]] Encoding operator()(std::span<const std::string> texts,
                                    const EncodeOptions& options = {}) const;

  /// Encodes pairs: `texts[i]` with `text_pairs[i]`.
  [[nodiscard]] Encoding operator()(std::span<const std::string> texts,
                                    std::span<const std::string> text_pairs,
                                    const EncodeOptions& options) const;

  /// The text of ids; an id that the vocabulary lacks adds nothing.
  [[nodiscard]] std::string decode(std::span<const std::int64_t> ids,
                                   const DecodeOptions& options = {}) const;

  [[nodiscard]] std::optional<std::int64_t> token_to_id(
      std::string_view token) const;
  [[nodiscard]] std::optional<std::string> id_to_token(std::int64_t id) const;

  /// The id of a special token by its name, such as `pad_token`.
  [[nodiscard]] std::optional<std::int64_t> special_token_id(
      std::string_view name) const;

  /// How many tokens there are, added ones included.
  [[nodiscard]] std::int64_t size() const;

  [[nodiscard]] const TokenizerConfig& config() const noexcept;

 private:
  struct Impl;
  explicit Tokenizer(std::shared_ptr<const Impl> impl) noexcept;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace modelrun
