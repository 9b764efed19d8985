// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/command.h"
#include "cli/python.h"
#include "cli/subprocess.h"
#include "modelrun/error.h"

namespace modelrun::cli {
namespace {

// The options that Python's part of the command takes; one that is not given
// is not passed on.
struct ExportOptions {
  std::string model;
  std::string output;
  std::string python;
  std::string format;
  std::string dtype;
  std::string task;
  std::string quantize;
  std::string fusions;
  bool is_static = false;
  bool generation = false;
  bool no_check = false;
  bool json = false;
};

// Says what of the exporters' packages is missing, or nothing.
constexpr const char* kFind = R"(
import importlib.util
for name in ("modelrun", "transformers", "torch"):
    if importlib.util.find_spec(name) is None:
        print("missing: " + name)
)";

void check_packages(const std::string& python) {
  std::string missing;
  const int code =
      run_program({python, "-c", kFind}, [&](std::string_view line) {
        constexpr std::string_view kMark = "missing: ";
        if (!line.starts_with(kMark)) return;
        missing += (missing.empty() ? "" : ", ");
        missing += line.substr(kMark.size());
      });
  // 127: a shell's way to say that there is none.
  if (code == 127) throw BackendError("cannot start " + python);
  if (missing.empty()) return;
  throw BackendError(python + " cannot export models: it has no " + missing +
                     "; install what is missing there with 'pip install "
                     "modelrun[export]', or name another Python by --python");
}

std::vector<std::string> command_line(const ExportOptions& options) {
  std::vector<std::string> words{python_of(options.python), "-m", "modelrun",
                                 "export"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  const auto add_flag = [&](const char* name, bool is_set) {
    if (is_set) words.emplace_back(name);
  };
  add("--format", options.format);
  add("--dtype", options.dtype);
  add("--task", options.task);
  add("--quantize", options.quantize);
  add("--ort-fusions", options.fusions);
  add_flag("--static", options.is_static);
  add_flag("--generation", options.generation);
  add_flag("--no-check", options.no_check);
  add_flag("--json", options.json);
  words.insert(words.end(), {"--", options.model, options.output});
  return words;
}

int run_export(const ExportOptions& options) {
  const std::vector<std::string> words = command_line(options);
  check_packages(words.front());
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  // Python takes this process's place: its terminal, its signals, its code.
  execvp(pointers[0], pointers.data());
  throw BackendError("cannot start " + words.front() + ": " +
                     std::generic_category().message(errno));
}

void add_choices(CLI::App& command, ExportOptions& options) {
  command
      .add_option("--format", options.format,
                  "onnx (the default), openvino, dynamo or executorch")
      ->type_name("NAME");
  const auto dynamic = command.add_flag_callback(
      "--dynamic", [] {}, "Let batch and length change (the default)");
  command
      .add_flag("--static", options.is_static,
                "Fix every size to that of the sample inputs")
      ->excludes(dynamic);
  command
      .add_option("--dtype", options.dtype,
                  "float32, float16 or bfloat16; by default the checkpoint's")
      ->type_name("NAME");
  command
      .add_option("--task", options.task,
                  "Such as text-classification; by default the checkpoint's "
                  "own class")
      ->type_name("NAME");
  command.add_flag("--generation", options.generation,
                   "Export the programs that generate calls");
  command
      .add_option("--quantize", options.quantize,
                  "int8-dynamic or int8-weights")
      ->type_name("HOW");
  command
      .add_option("--ort-fusions", options.fusions,
                  "Fuse into ONNX Runtime's own operators for cpu, cuda, "
                  "webgpu or dml")
      ->type_name("PROVIDER");
  command.add_flag("--no-check", options.no_check,
                   "Do not compare the export with the checkpoint");
  command.add_flag("--json", options.json, "Print what was made as JSON");
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "export", "Export a checkpoint of transformers, with Python");
  const auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("model", options->model,
                   "The folder of a checkpoint, or a repository of the Hub")
      ->required()
      ->type_name("MODEL");
  command->add_option("output", options->output, "The folder to make")
      ->required()
      ->type_name("OUT");
  add_choices(*command, *options);
  command
      ->add_option("--python", options->python,
                   "The Python that has transformers; by default that of the "
                   "active environment, or python3")
      ->type_name("PATH");
  command->footer(
      "Examples:\n"
      "  modelrun export path/to/all-MiniLM-L6-v2 minilm\n"
      "  modelrun export path/to/llama llama --generation --format openvino\n"
      "  modelrun export path/to/bert bert-int8 --quantize int8-dynamic");
  command->callback([options, &action] {
    action = [options] { return run_export(*options); };
  });
}

}  // namespace modelrun::cli
