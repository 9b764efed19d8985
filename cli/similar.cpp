// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/terminal.h"
#include "modelrun/embedder.h"

namespace modelrun::cli {
namespace {

constexpr std::size_t kCell = 7;

struct SimilarCommand {
  ModelOptions model;
  std::vector<std::string> texts;
};

// The more alike, the greener, on 256-colour terminals.
std::string shaded(float cosine) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(cosine));
  const std::string cell = padded(text, kCell - 1, true) + " ";
  constexpr const char* kShades[] = {"48;5;233;38;5;250", "48;5;22;38;5;252",
                                     "48;5;28;38;5;255",  "48;5;34;38;5;16",
                                     "48;5;40;38;5;16",   "48;5;46;38;5;16"};
  const float clamped = std::isnan(cosine) ? 0 : std::clamp(cosine, 0.0f, 1.0f);
  const auto shade = static_cast<std::size_t>(std::lround(clamped * 5));
  return styled(cell, kShades[shade], stdout);
}

void print_matrix(const std::vector<std::string>& texts,
                  const Tensor& cosines) {
  const std::string last = std::to_string(texts.size());
  const std::size_t cells = kCell * texts.size();
  const std::size_t width = terminal_width();
  const std::size_t used = cells + last.size() + 2;
  const std::size_t room =
      width == 0 ? 60
                 : std::max<std::size_t>(width > used ? width - used : 0, 12);
  std::size_t label = 0;
  for (const std::string& text : texts) {
    label = std::max(label, display_width(clean(text)));
  }
  label = std::min(label, room);
  std::string titles(last.size() + 2 + label, ' ');
  for (std::size_t i = 1; i <= texts.size(); ++i) {
    titles += padded(std::to_string(i), kCell - 1, true) + " ";
  }
  print(titles + "\n");
  const float* cosine = cosines.data<const float>().data();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string line = padded(std::to_string(i + 1), last.size(), true) + "  " +
                       padded(shortened(clean(texts[i]), label), label);
    for (std::size_t j = 0; j < texts.size(); ++j) line += shaded(*cosine++);
    print(line + "\n");
  }
}

int similar(const SimilarCommand& options) {
  if (options.texts.size() < 2) {
    throw UsageError("expected at least two texts, got " +
                     std::to_string(options.texts.size()));
  }
  const Embedder embedder = open_embedder(options.model);
  const Tensor vectors = embedder(options.texts);
  const Tensor cosines = cosine_similarity(vectors, vectors);
  if (options.model.json) {
    print(with_matrix({{"texts", options.texts}}, "similarities", cosines) +
          "\n");
  } else {
    print_matrix(options.texts, cosines);
  }
  return exit_ok;
}

}  // namespace

void add_similar(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "similar", "Show how similar texts are: the cosine of every pair");
  const auto options = std::make_shared<SimilarCommand>();
  add_export_options(*command, options->model);
  add_load_options(*command, options->model);
  command->add_option("TEXT", options->texts, "Two or more texts");
  command->footer(
      "Examples:\n"
      "  modelrun similar all-MiniLM-L6-v2 \"A cat.\" \"A kitten.\" \"A "
      "car.\"\n"
      "  modelrun similar all-MiniLM-L6-v2 \"A cat.\" \"A car.\" --json");
  command->callback(
      [options, &action] { action = [options] { return similar(*options); }; });
}

}  // namespace modelrun::cli
