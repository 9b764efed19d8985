// SPDX-License-Identifier: Apache-2.0
#include "text/sentence_transformer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "text/config_file.h"

namespace modelrun::detail {
namespace {

namespace fs = std::filesystem;

// One entry of modules.json.
struct Module {
  std::string type;  // as written, such as sentence_transformers.models.Dense
  std::string kind;  // its last word; empty for another package's module
  fs::path directory;
};

std::vector<Module> load_modules(const fs::path& directory) {
  constexpr std::string_view kPackage = "sentence_transformers.";
  const auto path = directory / "modules.json";
  const Json content = load_json(path);
  if (!content.is_array() || content.empty()) {
    fail_json(display(path), "a list of modules", content);
  }
  std::vector<Module> modules;
  for (const auto& entry : content) {
    const auto where =
        display(path) + ": module " + std::to_string(modules.size());
    const auto field = [&](const char* name) {
      const Json* value = json_find(json_object(entry, where), name);
      return json_string(value == nullptr ? Json() : *value,
                         where + ": " + name);
    };
    Module module;
    module.type = field("type");
    if (module.type.starts_with(kPackage)) {
      module.kind = module.type.substr(module.type.rfind('.') + 1);
    }
    const auto name = field("path");
    module.directory = name.empty()
                           ? directory
                           : resolve_within(directory, name, where + ": path");
    modules.push_back(std::move(module));
  }
  return modules;
}

void check_modules(const std::vector<Module>& modules) {
  constexpr std::array<std::string_view, 3> kOrder = {"Transformer", "Pooling",
                                                      "Normalize"};
  for (std::size_t i = 0; i < std::max<std::size_t>(modules.size(), 2); ++i) {
    const std::string kind = i < modules.size() ? modules[i].kind : "";
    const bool repeats = i > kOrder.size() - 1 && kind == kOrder.back();
    if (i < kOrder.size() ? kind == kOrder[i] : repeats) continue;
    throw Unsupported(
        "cannot embed: module " + std::to_string(i) + " is " +
        (i < modules.size() ? printable(modules[i].type) : "missing") +
        "; modelrun runs Transformer, Pooling and then, optionally, Normalize "
        "of sentence_transformers");
  }
}

void check_output(const ConfigFile& file, std::string_view field,
                  std::string_view expected) {
  const auto name = file.string(field);
  if (!name || *name == expected) return;
  throw Unsupported(file.where(field) + ": modelrun runs " +
                    printable(expected) + ", got " + printable(*name));
}

// sentence-transformers named this file after the model once.
std::optional<ConfigFile> transformer_file(const fs::path& directory) {
  for (const char* model : {"bert", "roberta", "distilbert", "camembert",
                            "albert", "xlm-roberta", "xlnet"}) {
    const auto name = std::string("sentence_") + model + "_config.json";
    if (auto file = ConfigFile::load(directory / name)) return file;
  }
  return std::nullopt;
}

void load_transformer(const Module& module, SentenceTransformerConfig& config) {
  config.transformer = module.directory;
  if (const auto file = transformer_file(module.directory)) {
    check_output(*file, "transformer_task", "feature-extraction");
    check_output(*file, "module_output_name", "token_embeddings");
    config.max_seq_length = file->positive_integer("max_seq_length");
    config.do_lower_case = file->boolean("do_lower_case").value_or(false);
  }
  if (const auto file = ConfigFile::load(module.directory / "config.json")) {
    const auto most = file->integer("max_position_embeddings");
    // XLNet writes -1 for "no limit".
    if (most && *most > 0) config.max_position_embeddings = most;
  }
}

// How releases before 5 wrote the modes, in the order of their outputs.
std::vector<PoolingMode> legacy_modes(const ConfigFile& file) {
  constexpr std::array<std::pair<std::string_view, PoolingMode>, 6> kFields = {
      {{"pooling_mode_cls_token", PoolingMode::cls},
       {"pooling_mode_max_tokens", PoolingMode::max},
       {"pooling_mode_mean_tokens", PoolingMode::mean},
       {"pooling_mode_mean_sqrt_len_tokens", PoolingMode::mean_sqrt_len_tokens},
       {"pooling_mode_weightedmean_tokens", PoolingMode::weightedmean},
       {"pooling_mode_lasttoken", PoolingMode::lasttoken}}};
  std::vector<PoolingMode> modes;
  for (const auto& [field, mode] : kFields) {
    if (file.boolean(field).value_or(false)) modes.push_back(mode);
  }
  if (modes.empty()) modes.push_back(PoolingMode::mean);
  return modes;
}

std::vector<PoolingMode> pooling_modes(const ConfigFile& file) {
  constexpr std::string_view kField = "pooling_mode";
  const auto* value = file.find(kField);
  if (value == nullptr) return legacy_modes(file);
  const auto expected = "one or more of " + std::string(pooling_mode_names());
  const auto one = [&](const Json& name) {
    std::optional<PoolingMode> mode;
    if (name.is_string()) mode = pooling_mode(name.get<std::string>());
    if (!mode) file.refuse(kField, expected, name);
    return *mode;
  };
  if (!value->is_array()) return {one(*value)};
  if (value->empty()) file.refuse(kField, expected, *value);
  std::vector<PoolingMode> modes;
  for (const auto& name : *value) modes.push_back(one(name));
  return modes;
}

void load_pooling(const Module& module, SentenceTransformerConfig& config) {
  const auto path = module.directory / "config.json";
  const auto file = ConfigFile::load(path);
  if (!file) {
    throw NotFound("cannot embed: the pooling's " + display(path) +
                   " is missing");
  }
  config.pooling_modes = pooling_modes(*file);
  config.include_prompt = file->boolean("include_prompt").value_or(true);
  config.embedding_dimension = file->positive_integer("embedding_dimension");
  if (!config.embedding_dimension) {
    config.embedding_dimension =
        file->positive_integer("word_embedding_dimension");
  }
}

void load_normalize(const Module& module, SentenceTransformerConfig& config) {
  if (const auto file = ConfigFile::load(module.directory / "config.json")) {
    check_output(*file, "module_input_name", "sentence_embedding");
    check_output(*file, "module_output_name", "sentence_embedding");
  }
  config.normalize = true;
}

void load_prompts(const ConfigFile& file, SentenceTransformerConfig& config) {
  constexpr auto kExpected = "an object of strings";
  if (const auto* prompts = file.find("prompts")) {
    if (!prompts->is_object()) file.refuse("prompts", kExpected, *prompts);
    for (const auto& [name, prompt] : prompts->items()) {
      if (!prompt.is_string() && !prompt.is_null()) {
        file.refuse("prompts", kExpected, prompt);
      }
      config.prompts[name] =
          prompt.is_null() ? std::string() : prompt.get<std::string>();
    }
  }
  config.default_prompt_name = file.string("default_prompt_name");
  const auto& name = config.default_prompt_name;
  if (name && !config.prompts.contains(*name)) {
    file.refuse("default_prompt_name", "the name of one of its prompts", *name);
  }
}

void load_model_file(const fs::path& directory,
                     SentenceTransformerConfig& config) {
  constexpr std::array<std::string_view, 4> kSimilarities = {
      "cosine", "dot", "euclidean", "manhattan"};
  const auto file =
      ConfigFile::load(directory / "config_sentence_transformers.json");
  if (!file) return;
  check_output(*file, "model_type", "SentenceTransformer");
  load_prompts(*file, config);
  const auto name = file->string("similarity_fn_name");
  if (!name) return;
  if (std::find(kSimilarities.begin(), kSimilarities.end(), *name) ==
      kSimilarities.end()) {
    file->refuse("similarity_fn_name", "cosine, dot, euclidean or manhattan",
                 *name);
  }
  config.similarity_fn_name = *name;
}

}  // namespace

bool is_sentence_transformer(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "modules.json", error);
}

SentenceTransformerConfig load_sentence_transformer(const fs::path& directory) {
  const auto modules = load_modules(directory);
  check_modules(modules);
  SentenceTransformerConfig config;
  load_model_file(directory, config);
  load_transformer(modules[0], config);
  load_pooling(modules[1], config);
  for (std::size_t i = 2; i < modules.size(); ++i) {
    load_normalize(modules[i], config);
  }
  return config;
}

std::optional<std::int64_t> max_sequence_length(
    const SentenceTransformerConfig& config,
    std::optional<std::int64_t> model_max_length) {
  if (config.max_seq_length) return config.max_seq_length;
  const auto& most = config.max_position_embeddings;
  if (!most || !model_max_length) return most ? most : model_max_length;
  return std::min(*most, *model_max_length);
}

}  // namespace modelrun::detail
