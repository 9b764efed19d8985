// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_input.h"
#include "modelrun/embedder.h"
#include "modelrun/tensor_file.h"
#include "tensor_file/atomic_file.h"
#include "tensor_file/json_tensors.h"

namespace modelrun::cli {
namespace {

struct EmbedCommand {
  ModelOptions model;
  std::vector<std::string> texts;
  TextInput input;
  std::string output;
  int batch_size = EmbedOptions().batch_size;
};

std::vector<std::string> texts_of(const EmbedCommand& options) {
  if (options.input.file.empty()) {
    if (options.texts.empty()) {
      throw UsageError("nothing to embed: give texts, or --input FILE");
    }
    return options.texts;
  }
  if (!options.texts.empty()) {
    throw UsageError("expected texts or --input, got both");
  }
  auto texts = read_texts(options.input);
  if (texts.empty()) {
    throw InvalidArgument(options.input.file + ": holds no text");
  }
  return texts;
}

Tensor row_of(const Tensor& vectors, std::size_t row) {
  const std::int64_t width = vectors.shape()[1];
  return Tensor::view(
      vectors.data<float>().data() + static_cast<std::int64_t>(row) * width,
      {.dtype = DType::float32, .shape = {width}});
}

void save_json_lines(const std::vector<std::string>& texts,
                     const Tensor& vectors, const std::string& path) {
  detail::AtomicFile file(path);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string line =
        "{\"text\": " + detail::json_quoted(texts[i]) +
        ", \"embedding\": " + detail::json_text(row_of(vectors, i)) + "}\n";
    file.write(line.data(), line.size());
  }
  file.commit();
}

void save(const std::vector<std::string>& texts, const Tensor& vectors,
          const std::string& path) {
  if (path.ends_with(".jsonl")) return save_json_lines(texts, vectors, path);
  save_tensors({{"embeddings", vectors}}, path);
}

void print_vectors(const std::vector<std::string>& texts,
                   const Tensor& vectors) {
  constexpr std::size_t kShown = 4;
  Table table({{"text"}, {"embedding"}});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Tensor row = row_of(vectors, i);
    const auto values = row.data<const float>();
    std::string shown;
    for (std::size_t k = 0; k < std::min(kShown, values.size()); ++k) {
      char number[32];
      std::snprintf(number, sizeof number, "%8.4f ",
                    static_cast<double>(values[k]));
      shown += number;
    }
    table.add({shortened(clean(texts[i]), 60), shown + "…"});
  }
  print(table.text(0, terminal_width()));
}

// Checked before anything runs: an embedding may take hours.
void check_output(const std::string& path) {
  if (path.empty()) return;
  for (const char* extension :
       {".jsonl", ".npy", ".npz", ".safetensors", ".json"}) {
    if (path.ends_with(extension)) return;
  }
  throw UsageError(
      "--output: expected a name that ends in .jsonl, .npy, "
      ".npz, .safetensors or .json, got '" +
      path + "'");
}

int embed(const EmbedCommand& options) {
  check_output(options.output);
  const auto texts = texts_of(options);
  const Embedder embedder = open_embedder(options.model);
  Tensor vectors;
  {
    Progress progress;
    vectors =
        embedder(texts, {.batch_size = options.batch_size,
                         .progress = [&](std::size_t done, std::size_t total) {
                           progress.show(done, total);
                         }});
  }
  if (!options.output.empty()) save(texts, vectors, options.output);
  const Json summary = {{"count", texts.size()},
                        {"dimension", vectors.shape()[1]}};
  if (!options.model.json) {
    if (options.output.empty()) {
      print_vectors(texts, vectors);
    }
    print((options.output.empty() ? "\n" : "") + std::to_string(texts.size()) +
          (texts.size() == 1 ? " text, " : " texts, ") +
          std::to_string(vectors.shape()[1]) + " dimensions" +
          (options.output.empty() ? "" : ", written to " + options.output) +
          "\n");
  } else if (options.output.empty()) {
    print(with_matrix(summary, "embeddings", vectors) + "\n");
  } else {
    Json object = summary;
    object["output"] = options.output;
    print_json(object);
  }
  return exit_ok;
}

}  // namespace

void add_embed(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "embed", "Turn texts into vectors, as sentence-transformers does");
  const auto options = std::make_shared<EmbedCommand>();
  add_export_options(*command, options->model);
  add_load_options(*command, options->model);
  command->add_option("TEXT", options->texts, "The texts");
  command
      ->add_option("--input", options->input.file,
                   "A file of texts: one a line, .jsonl or .csv; - is the "
                   "standard input")
      ->type_name("FILE");
  command->add_option("--field", options->input.field,
                      "The text's field in JSON lines (text)");
  command->add_option("--column", options->input.column,
                      "The text's column in a CSV file (text)");
  command
      ->add_option("--output", options->output,
                   "Where the vectors go: .jsonl, .npy, .npz, .safetensors or "
                   ".json")
      ->type_name("FILE");
  command
      ->add_option("--batch-size", options->batch_size,
                   "Texts in one call of the model (32)")
      ->check(CLI::Range(1, 1 << 20));
  command->footer(
      "Examples:\n"
      "  modelrun embed all-MiniLM-L6-v2 \"A sentence.\" --json\n"
      "  modelrun embed all-MiniLM-L6-v2 --input lines.txt --output out.npy\n"
      "  modelrun embed all-MiniLM-L6-v2 --input data.csv --column title \\\n"
      "    --output vectors.safetensors\n"
      "  head -5 lines.txt | modelrun embed all-MiniLM-L6-v2 --input -");
  command->callback(
      [options, &action] { action = [options] { return embed(*options); }; });
}

}  // namespace modelrun::cli
