// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "modelrun/tensor_file.h"

namespace modelrun::cli {
namespace {

struct RunOptions {
  ModelOptions model;
  std::string inputs;
  std::string output;
};

NamedValues read_inputs(const std::string& file) {
  try {
    return load_tensors(file);
  } catch (const Unsupported& error) {
    throw InvalidArgument(error.what());
  }
}

NamedValues named(const Outputs& outputs) {
  NamedValues values;
  if (!outputs.is_nested()) {
    values.emplace_back("output", outputs);
    return values;
  }
  const auto keys = outputs.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    values.emplace_back(keys[i], outputs[i]);
  }
  return values;
}

void add_rows(const std::string& path, const Value& value, Table& table) {
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    table.add(
        {path, std::string(name(tensor.dtype())), to_string(tensor.shape())});
    return;
  }
  if (value.is_scalar()) {
    table.add({path, "", to_string(value.scalar())});
    return;
  }
  const auto keys = value.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_rows(path + "." + keys[i], value[i], table);
  }
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1 ? "%.1f ms" : "%.2f s",
                seconds < 1 ? seconds * 1000 : seconds);
  return text;
}

int run_export(const RunOptions& options) {
  const NamedValues inputs = read_inputs(options.inputs);
  const ExportedModel model = open_model(options.model);
  std::vector<Kwarg> kwargs;
  for (const auto& [name, value] : inputs) kwargs.push_back({name, value});
  const auto start = std::chrono::steady_clock::now();
  const Outputs outputs = model(kwargs);
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  const NamedValues values = named(outputs);
  if (!options.output.empty()) save_tensors(values, options.output);
  if (options.model.json) {
    print_json(
        {{"class", outputs.class_name()},
         {"outputs", to_json(Value::mapping(values))},
         {"output", options.output.empty() ? Json() : Json(options.output)},
         {"device", to_string(model.device())},
         {"seconds", passed.count()}});
    return exit_ok;
  }
  Table table({{"output"}, {"dtype"}, {"shape"}});
  for (const auto& [name, value] : values) add_rows(name, value, table);
  print(table.text(0, 0));
  print(
      "\n" + seconds_text(passed.count()) + " on " + to_string(model.device()) +
      (options.output.empty() ? "" : ", written to " + options.output) + "\n");
  return exit_ok;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("run", "Run an export on the tensors of a file");
  const auto options = std::make_shared<RunOptions>();
  add_export_options(*command, options->model);
  add_component_option(*command, options->model);
  add_load_options(*command, options->model);
  command
      ->add_option("--inputs", options->inputs,
                   "The kwargs: .safetensors, .npz, .npy or .json; a leaf of "
                   "a nest by its dotted path")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--output", options->output,
                   "Where the outputs go, in the same formats, under their "
                   "leaf paths")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  modelrun run path/to/export --inputs in.safetensors --output out.npz\n"
      "  modelrun run path/to/export --inputs in.json --json\n"
      "  modelrun run path/to/export --component decode --inputs in.npz");
  command->callback([options, &action] {
    action = [options] { return run_export(*options); };
  });
}

}  // namespace modelrun::cli
