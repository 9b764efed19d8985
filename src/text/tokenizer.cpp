// SPDX-License-Identifier: Apache-2.0
#include "modelrun/tokenizer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>
#include <utility>

#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "text/encode_plan.h"
#include "text/rust_text.h"
#include "text/tokenizer_config.h"

namespace modelrun {
namespace {

// The largest vocabularies take some tens of MiB.
constexpr std::size_t kLargest = std::size_t{1} << 30;

struct DestroyTokenizer {
  void operator()(modelrun_rust_tokenizer* tokenizer) const {
    modelrun_rust_tokenizer_destroy(tokenizer);
  }
};
using Handle = std::unique_ptr<modelrun_rust_tokenizer, DestroyTokenizer>;

struct DestroyRows {
  void operator()(modelrun_rust_rows* rows) const {
    modelrun_rust_rows_destroy(rows);
  }
};
using Rows = std::unique_ptr<modelrun_rust_rows, DestroyRows>;

Handle create(std::string_view json, bool lowercase, const std::string& name) {
  modelrun_rust_tokenizer* made = nullptr;
  detail::RustText error;
  const auto status = modelrun_rust_tokenizer_create(
      detail::rust_bytes(json), lowercase, &made, error.out());
  detail::check_rust(status, name + " is not a tokenizer", error);
  return Handle(made);
}

TokenizerConfig baked_config(const modelrun_rust_tokenizer* tokenizer) {
  const auto baked = modelrun_rust_tokenizer_baked_options(tokenizer);
  TokenizerConfig config;
  if (baked.has_truncation) {
    config.baked_max_length = baked.truncation_max_length;
    config.truncation_side = baked.truncate_left ? Side::left : Side::right;
  }
  if (baked.has_padding) {
    const bool fixed = baked.padding_length >= 0;
    config.baked_padding = fixed ? Padding::max_length : Padding::longest;
    if (fixed) config.baked_padding_length = baked.padding_length;
    config.padding_side = baked.pad_left ? Side::left : Side::right;
    config.pad_token_type_id = baked.pad_type_id;
    config.special_tokens["pad_token"] =
        std::string(reinterpret_cast<const char*>(baked.pad_token.data),
                    baked.pad_token.size);
  }
  return config;
}

void apply_options(const TokenizerOptions& options, TokenizerConfig& config) {
  if (!options.model_max_length) return;
  if (*options.model_max_length <= 0) {
    throw InvalidArgument("model_max_length: expected a positive number, got " +
                          std::to_string(*options.model_max_length));
  }
  config.model_max_length = options.model_max_length;
}

// Says what is there instead, when a model was saved without the one file
// that holds the whole tokenizer.
[[noreturn]] void refuse_missing(const std::filesystem::path& directory) {
  constexpr std::array<const char*, 5> kSlow = {
      "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model",
      "sentencepiece.bpe.model"};
  std::string message =
      "no tokenizer in " + display(directory) + ": 'tokenizer.json' is missing";
  std::error_code error;
  for (const char* name : kSlow) {
    if (!std::filesystem::exists(directory / name, error)) continue;
    message += std::string(" ('") + name + "' alone is not enough)";
    break;
  }
  throw NotFound(message +
                 "; make it with AutoTokenizer.from_pretrained(...)"
                 ".save_pretrained(...) of transformers");
}

// The replacements of transformers' clean_up_tokenization, in its order.
void clean_up(std::string& text) {
  constexpr std::array<std::array<std::string_view, 2>, 10> kReplacements = {
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  for (const auto& [from, to] : kReplacements) {
    std::string cleaned;
    std::size_t begin = 0;
    for (auto at = text.find(from); at != std::string::npos;
         at = text.find(from, begin)) {
      cleaned.append(text, begin, at - begin).append(to);
      begin = at + from.size();
    }
    text = cleaned.append(text, begin);
  }
}

std::vector<std::uint32_t> narrow_ids(std::span<const std::int64_t> ids) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> narrow;
  narrow.reserve(ids.size());
  for (const auto id : ids) {
    if (id < 0 || id > kMost) {
      throw InvalidArgument("cannot decode id " + std::to_string(id) +
                            " at place " + std::to_string(narrow.size()) +
                            ": ids are not negative");
    }
    narrow.push_back(static_cast<std::uint32_t>(id));
  }
  return narrow;
}

std::vector<modelrun_rust_bytes> lend(std::span<const std::string> texts) {
  std::vector<modelrun_rust_bytes> bytes;
  bytes.reserve(texts.size());
  for (const auto& text : texts) bytes.push_back(detail::rust_bytes(text));
  return bytes;
}

// Lays the rows out as one padded block.
Encoding fill(const modelrun_rust_rows* rows, std::vector<std::int64_t> lengths,
              const detail::EncodePlan& plan, bool offsets) {
  Encoding encoding;
  encoding.batch = static_cast<std::int64_t>(lengths.size());
  encoding.sequence = detail::padded_length(plan, lengths);
  encoding.lengths = std::move(lengths);
  const auto sequence = static_cast<std::size_t>(encoding.sequence);
  const std::size_t count = encoding.lengths.size() * sequence;
  for (auto* array :
       {&encoding.input_ids, &encoding.attention_mask, &encoding.token_type_ids,
        &encoding.special_tokens_mask}) {
    array->resize(count);
  }
  if (offsets) encoding.offset_mapping.resize(count);
  using Pair = std::int64_t (*)[2];
  static_assert(sizeof(std::array<std::int64_t, 2>) == sizeof(std::int64_t[2]));
  const modelrun_rust_fill_request request = {
      .sequence = sequence,
      .pad_id = plan.pad_id,
      .pad_type_id = plan.pad_type_id,
      .pad_left = plan.pad_left,
      .input_ids = encoding.input_ids.data(),
      .attention_mask = encoding.attention_mask.data(),
      .token_type_ids = encoding.token_type_ids.data(),
      .special_tokens_mask = encoding.special_tokens_mask.data(),
      .offsets = offsets
                     ? reinterpret_cast<Pair>(encoding.offset_mapping.data())
                     : nullptr};
  detail::RustText error;
  detail::check_rust(modelrun_rust_rows_fill(rows, &request, error.out()),
                     "cannot pad the texts", error);
  return encoding;
}

}  // namespace

struct Tokenizer::Impl {
  Handle handle;
  TokenizerConfig config;
  std::optional<std::int64_t> pad_id;

  Encoding encode(std::span<const modelrun_rust_bytes> texts,
                  const modelrun_rust_bytes* pairs,
                  const EncodeOptions& options) const {
    const auto plan = detail::plan_encode(options, config, pad_id);
    const modelrun_rust_encode_request request = {
        .texts = texts.data(),
        .pairs = pairs,
        .batch = texts.size(),
        .max_length = static_cast<std::uint64_t>(plan.max_length),
        .truncation = static_cast<std::int32_t>(options.truncation),
        .threads = static_cast<std::uint32_t>(options.threads),
        .truncate_left = plan.truncate_left,
        .add_special_tokens = options.add_special_tokens,
        .offsets = options.return_offsets_mapping};
    modelrun_rust_rows* made = nullptr;
    detail::RustText error;
    const auto status = modelrun_rust_tokenizer_encode(handle.get(), &request,
                                                       &made, error.out());
    detail::check_rust(status, "cannot encode the texts", error);
    const Rows rows(made);
    std::vector<std::int64_t> lengths(texts.size());
    modelrun_rust_rows_lengths(rows.get(), lengths.data());
    return fill(rows.get(), std::move(lengths), plan,
                options.return_offsets_mapping);
  }

  std::optional<std::int64_t> token_to_id(std::string_view token) const {
    const auto id = modelrun_rust_tokenizer_token_to_id(
        handle.get(), detail::rust_bytes(token));
    if (id < 0) return std::nullopt;
    return id;
  }

  void find_pad_id() {
    const auto token = config.special_tokens.find("pad_token");
    if (token != config.special_tokens.end())
      pad_id = token_to_id(token->second);
  }
};

Tokenizer::Tokenizer(std::shared_ptr<const Impl> impl) noexcept
    : impl_(std::move(impl)) {}

Tokenizer Tokenizer::from_pretrained(const std::filesystem::path& directory,
                                     const TokenizerOptions& options) {
  const auto path = directory / "tokenizer.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) refuse_missing(directory);
  auto impl = std::make_shared<Impl>();
  impl->handle =
      create(load_text(path, kLargest), options.do_lower_case, display(path));
  impl->config = baked_config(impl->handle.get());
  detail::apply_tokenizer_files(directory, impl->config);
  apply_options(options, impl->config);
  impl->find_pad_id();
  return Tokenizer(std::move(impl));
}

Tokenizer Tokenizer::from_json(std::string_view json,
                               const TokenizerOptions& options) {
  auto impl = std::make_shared<Impl>();
  impl->handle = create(json, options.do_lower_case, "the given JSON");
  impl->config = baked_config(impl->handle.get());
  apply_options(options, impl->config);
  impl->find_pad_id();
  return Tokenizer(std::move(impl));
}

Encoding Tokenizer::operator()(std::string_view text,
                               const EncodeOptions& options) const {
  const auto bytes = detail::rust_bytes(text);
  return impl_->encode({&bytes, 1}, nullptr, options);
}

Encoding Tokenizer::operator()(std::span<const std::string> texts,
                               const EncodeOptions& options) const {
  return impl_->encode(lend(texts), nullptr, options);
}

Encoding Tokenizer::operator()(std::span<const std::string> texts,
                               std::span<const std::string> text_pairs,
                               const EncodeOptions& options) const {
  if (texts.size() != text_pairs.size()) {
    throw InvalidArgument(
        "cannot encode pairs: expected as many text_pairs as texts, got " +
        std::to_string(text_pairs.size()) + " for " +
        std::to_string(texts.size()));
  }
  const auto pairs = lend(text_pairs);
  // An empty vector lends null, which would ask for single texts.
  if (pairs.empty()) return impl_->encode({}, nullptr, options);
  return impl_->encode(lend(texts), pairs.data(), options);
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids,
                              const DecodeOptions& options) const {
  const auto narrow = narrow_ids(ids);
  detail::RustText text;
  detail::RustText error;
  const auto status = modelrun_rust_tokenizer_decode(
      impl_->handle.get(), narrow.data(), narrow.size(),
      options.skip_special_tokens, text.out(), error.out());
  detail::check_rust(status, "cannot decode the ids", error);
  std::string decoded = text.string();
  // transformers leaves BPE text alone, which holds its own spaces.
  if (options.clean_up_tokenization_spaces.value_or(
          impl_->config.clean_up_tokenization_spaces) &&
      !modelrun_rust_tokenizer_is_bpe(impl_->handle.get())) {
    clean_up(decoded);
  }
  return decoded;
}

std::optional<std::int64_t> Tokenizer::token_to_id(
    std::string_view token) const {
  return impl_->token_to_id(token);
}

std::optional<std::string> Tokenizer::id_to_token(std::int64_t id) const {
  if (id < 0 || id > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  detail::RustText token;
  if (!modelrun_rust_tokenizer_id_to_token(
          impl_->handle.get(), static_cast<std::uint32_t>(id), token.out())) {
    return std::nullopt;
  }
  return token.string();
}

std::optional<std::int64_t> Tokenizer::special_token_id(
    std::string_view name) const {
  const auto token = impl_->config.special_tokens.find(name);
  if (token == impl_->config.special_tokens.end()) return std::nullopt;
  return impl_->token_to_id(token->second);
}

std::int64_t Tokenizer::size() const {
  return static_cast<std::int64_t>(
      modelrun_rust_tokenizer_vocab_size(impl_->handle.get()));
}

const TokenizerConfig& Tokenizer::config() const noexcept {
  return impl_->config;
}

}  // namespace modelrun
