// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/pooling.h"

namespace modelrun::detail {

/// What a model saved by sentence-transformers does around its transformer.
struct SentenceTransformerConfig {
  /// Where the transformer's files are: the directory or one inside it.
  std::filesystem::path transformer;
  std::vector<PoolingMode> pooling_modes;
  /// Whether a prompt's tokens are pooled too.
  bool include_prompt = true;
  bool normalize = false;
  /// The transformer's hidden size, where the pooling says it.
  std::optional<std::int64_t> embedding_dimension;
  std::optional<std::int64_t> max_seq_length;
  std::optional<std::int64_t> max_position_embeddings;
  bool do_lower_case = false;
  /// By name; put before each text.
  std::map<std::string, std::string, std::less<>> prompts;
  std::optional<std::string> default_prompt_name;
  /// `cosine`, `dot`, `euclidean` or `manhattan`.
  std::string similarity_fn_name = "cosine";
};

/// Whether a directory has the layout, which is a `modules.json`.
[[nodiscard]] bool is_sentence_transformer(
    const std::filesystem::path& directory);

/// Reads the layout: `modules.json` and the files that it names. Throws
/// `NotFound`, `InvalidArgument` with the file and the field, or
/// `Unsupported` with the module that modelrun does not run.
[[nodiscard]] SentenceTransformerConfig load_sentence_transformer(
    const std::filesystem::path& directory);

/// The number of tokens that texts are cut to: `max_seq_length`, or else the
/// smaller of the tokenizer's and the model's own limit.
[[nodiscard]] std::optional<std::int64_t> max_sequence_length(
    const SentenceTransformerConfig& config,
    std::optional<std::int64_t> model_max_length);

}  // namespace modelrun::detail
