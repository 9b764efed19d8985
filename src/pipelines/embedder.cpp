// SPDX-License-Identifier: Apache-2.0
#include "modelrun/embedder.h"

#include <algorithm>
#include <future>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include "artifact/safe_path.h"
#include "core/usable_cores.h"
#include "modelrun/error.h"
#include "modelrun/inspect.h"
#include "modelrun/tokenizer.h"
#include "pipelines/embedding_output.h"
#include "pipelines/encoder_inputs.h"
#include "text/config_file.h"
#include "text/sentence_transformer.h"

namespace modelrun {

struct Embedder::State {
  ExportedModel model;
  Tokenizer tokenizer;
  detail::EncoderInputs inputs;
  detail::EmbeddingRecipe recipe;
  std::string prompt = {};
  std::int64_t max_length = 0;
  std::int64_t dimension = 0;  // 0 when no config says it
  int threads = 1;

  [[nodiscard]] Encoding encode(std::span<const std::string> texts) const;
  [[nodiscard]] bool takes(std::string_view kwarg) const;
  [[nodiscard]] detail::EmbeddingRows embed(
      std::vector<std::string> texts) const;
};

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The folder with the configs: of a program file its own, or the one above
// `onnx/` and the like.
fs::path config_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return path;
  const fs::path folder = path.parent_path();
  if (is_there(folder / "tokenizer.json") ||
      is_there(folder / "modules.json")) {
    return folder;
  }
  const fs::path above = folder / "..";
  return is_there(above / "tokenizer.json") ? above : folder;
}

detail::SentenceTransformerConfig load_config(const fs::path& folder) {
  if (detail::is_sentence_transformer(folder)) {
    return detail::load_sentence_transformer(folder);
  }
  detail::SentenceTransformerConfig config;
  config.transformer = folder;
  config.pooling_modes = {detail::PoolingMode::mean};
  if (const auto file = detail::ConfigFile::load(folder / "config.json")) {
    const auto most = file->integer("max_position_embeddings");
    if (most && *most > 0) config.max_position_embeddings = most;
  }
  return config;
}

fs::path tokenizer_folder(const fs::path& transformer, const fs::path& folder,
                          const std::string& subfolder) {
  for (const fs::path& place : {transformer, folder, folder / subfolder}) {
    if (is_there(place / "tokenizer.json")) return place;
  }
  return transformer;
}

std::int64_t longest(const detail::SentenceTransformerConfig& config,
                     const Tokenizer& tokenizer,
                     const detail::EncoderInputs& inputs) {
  const auto asked =
      detail::max_sequence_length(config, tokenizer.config().model_max_length);
  // No text may be longer than what the model has positions for.
  return std::min({asked.value_or(kUnlimited),
                   config.max_position_embeddings.value_or(kUnlimited),
                   inputs.sequence.value_or(kUnlimited)});
}

// The prompt's own tokens: a special one at its end belongs to the text.
std::int64_t prompt_length(const Tokenizer& tokenizer,
                           const std::string& prompt) {
  const Encoding encoding = tokenizer(prompt);
  if (encoding.input_ids.empty()) return 0;
  const std::int64_t last = encoding.input_ids.back();
  for (const auto& [name, token] : tokenizer.config().special_tokens) {
    if (tokenizer.token_to_id(token) == last) return encoding.sequence - 1;
  }
  return encoding.sequence;
}

// The indices of the texts, the longest first: a batch is padded little, and
// the largest memory is needed at the beginning.
std::vector<std::size_t> by_length(std::span<const std::string> texts) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return texts[a].size() > texts[b].size();
                   });
  return order;
}

Tensor ids_view(std::vector<std::int64_t>& ids, const Encoding& encoding) {
  return Tensor::view(
      ids.data(),
      {.dtype = DType::int64, .shape = {encoding.batch, encoding.sequence}});
}

}  // namespace

Embedder::Embedder(std::shared_ptr<const State> state)
    : state_(std::move(state)) {}

Embedder Embedder::from_pretrained(const fs::path& path,
                                   const LoadOptions& options) {
  const fs::path folder = config_folder(path);
  const auto config = load_config(folder);
  // An export in a module's folder is the transformer's own.
  const bool own = options.subfolder.empty() && folder == path;
  const fs::path& place = own ? config.transformer : path;
  const auto inputs = detail::encoder_inputs(inspect(
      place, {.subfolder = options.subfolder, .file_name = options.file_name}));
  // Read beside the model: together they are most of a cold start.
  auto tokenizer = std::async(std::launch::async, [&] {
    return Tokenizer::from_pretrained(
        tokenizer_folder(config.transformer, folder, options.subfolder),
        {.do_lower_case = config.do_lower_case});
  });
  ExportedModel model = ExportedModel::from_pretrained(place, options);
  auto state = std::make_shared<State>(
      State{.model = std::move(model),
            .tokenizer = tokenizer.get(),
            .inputs = inputs,
            .recipe = {.pooling_modes = config.pooling_modes,
                       .normalize = config.normalize}});
  if (config.default_prompt_name) {
    state->prompt = config.prompts.at(*config.default_prompt_name);
  }
  if (!state->prompt.empty() && !config.include_prompt) {
    state->recipe.prompt_length =
        prompt_length(state->tokenizer, state->prompt);
  }
  state->max_length = longest(config, state->tokenizer, inputs);
  state->dimension = config.embedding_dimension.value_or(0) *
                     static_cast<std::int64_t>(config.pooling_modes.size());
  state->threads = options.threads.value_or(usable_cores());
  return Embedder(std::move(state));
}

// Encodes a batch; a program of a fixed shape gets exactly that.
Encoding Embedder::State::encode(std::span<const std::string> texts) const {
  const auto& sequence = inputs.sequence;
  EncodeOptions options;
  options.padding = sequence ? Padding::max_length : Padding::longest;
  if (max_length != kUnlimited) {
    options.truncation = Truncation::longest_first;
    options.max_length = max_length;
  }
  if (sequence && *sequence > max_length) {
    throw InvalidArgument(
        "cannot embed: the program takes " + std::to_string(*sequence) +
        " tokens, but the model is limited to " + std::to_string(max_length));
  }
  options.threads = threads;
  return tokenizer(texts, options);
}

bool Embedder::State::takes(std::string_view name) const {
  if (!inputs.names.empty()) return inputs.names.contains(name);
  const auto& names = tokenizer.config().model_input_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

detail::EmbeddingRows Embedder::State::embed(
    std::vector<std::string> texts) const {
  // Rows that fill a fixed batch up; the caller leaves out what they give.
  if (inputs.batch) {
    texts.resize(static_cast<std::size_t>(*inputs.batch), texts.front());
  }
  Encoding encoding = encode(texts);
  std::vector<Kwarg> kwargs;
  const auto add = [&](std::string_view name, std::vector<std::int64_t>& ids) {
    if (takes(name)) kwargs.push_back({name, ids_view(ids, encoding)});
  };
  add("input_ids", encoding.input_ids);
  add("attention_mask", encoding.attention_mask);
  add("token_type_ids", encoding.token_type_ids);
  return detail::embedding_rows(model(kwargs), recipe, encoding.attention_mask,
                                encoding.batch);
}

Tensor Embedder::operator()(std::span<const std::string> texts,
                            const EmbedOptions& options) const {
  if (options.batch_size < 1) {
    throw InvalidArgument("batch_size: expected 1 or more, got " +
                          std::to_string(options.batch_size));
  }
  const auto order = by_length(texts);
  const auto step = static_cast<std::size_t>(
      state_->inputs.batch.value_or(options.batch_size));
  Tensor vectors = Tensor::zeros(DType::float32, {0, state_->dimension});
  for (std::size_t begin = 0; begin < texts.size(); begin += step) {
    const std::size_t count = std::min(step, texts.size() - begin);
    std::vector<std::string> batch;
    for (std::size_t i = begin; i < begin + count; ++i) {
      batch.push_back(state_->prompt + texts[order[i]]);
    }
    const auto rows = state_->embed(std::move(batch));
    if (begin == 0) {
      vectors = Tensor::empty(
          DType::float32,
          {static_cast<std::int64_t>(texts.size()), rows.dimension});
    }
    const auto width = static_cast<std::size_t>(rows.dimension);
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(rows.values.data() + i * width, width,
                  vectors.data<float>().data() + order[begin + i] * width);
    }
    if (options.progress) options.progress(begin + count, texts.size());
  }
  return vectors;
}

std::int64_t Embedder::max_length() const noexcept {
  return state_->max_length;
}

const ExportedModel& Embedder::model() const noexcept { return state_->model; }

}  // namespace modelrun
