// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/compile_script.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/python.h"
#include "cli/subprocess.h"
#include "cli/terminal.h"
#include "modelrun/error.h"
#include "modelrun/inspect.h"

namespace modelrun::cli {

namespace fs = std::filesystem;

namespace {

struct CompileOptions : ModelOptions {
  std::string output;
  std::string python;
};

struct Compiled {
  std::string name;
  std::string file;
  std::uintmax_t size = 0;
  double seconds = 0;
};

// A folder that is renamed when everything is in it, and removed otherwise.
class NewFolder {
 public:
  explicit NewFolder(fs::path target) : target_(std::move(target)) {
    if (fs::exists(target_)) {
      throw InvalidArgument(target_.string() +
                            " is there already: remove it, or name another "
                            "folder by --output");
    }
    path_ = target_.string() + ".part-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      throw InvalidArgument("cannot write to " + target_.string() + ": " +
                            std::generic_category().message(errno));
    }
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  [[nodiscard]] fs::path path() const { return path_; }
  void keep() {
    fs::permissions(path_,
                    fs::perms::group_read | fs::perms::group_exec |
                        fs::perms::others_read | fs::perms::others_exec,
                    fs::perm_options::add);
    fs::rename(path_, target_);
    path_.clear();
  }

 private:
  fs::path target_;
  std::string path_;
};

// Of what the script says, and of torch's own words the last.
struct Conversation {
  std::string torch;
  std::string missing;
  std::string error;
  std::deque<std::string> last_words;

  void take(std::string_view line) {
    constexpr std::string_view kMark = "modelrun: ";
    constexpr std::size_t kKept = 8;
    const Json said = line.starts_with(kMark)
                          ? Json::parse(line.substr(kMark.size()), nullptr,
                                        /*allow_exceptions=*/false)
                          : Json();
    if (said.is_object()) {
      torch = said.value("torch", torch);
      missing = said.value("missing", missing);
      error = said.value("error", error);
      return;
    }
    last_words.emplace_back(line);
    if (last_words.size() > kKept) last_words.pop_front();
  }

  [[nodiscard]] std::string reason() const {
    if (!error.empty()) return error;
    std::string text = "torch says:";
    for (const std::string& line : last_words) text += "\n  " + clean(line);
    return text;
  }
};

void run_script(const std::string& python, const fs::path& manifest,
                const ComponentDescription& component, const fs::path& target,
                Conversation& said) {
  const int code =
      run_program({python, "-c", kCompileScript, manifest.string(),
                   component.name, component.file.string(), target.string()},
                  [&](std::string_view line) { said.take(line); });
  if (code == 0) return;
  if (!said.missing.empty()) {
    throw BackendError(python + " cannot compile models: " + said.missing +
                       "; install what is missing there with 'pip install "
                       "torch==2.15.0 transformers', or name another Python "
                       "by --python");
  }
  // 127: a shell's way to say that there is none.
  if (code == 127) throw BackendError("cannot start " + python);
  throw BackendError("component '" + component.name +
                     "' cannot be compiled: " + said.reason());
}

// What a call or a pipeline reads beside the programs, and no weights.
void copy_other_files(const fs::path& from, const fs::path& to) {
  constexpr std::array kCopied{".json", ".txt", ".model", ".jinja", ".md"};
  for (auto entry = fs::recursive_directory_iterator(from);
       entry != fs::recursive_directory_iterator(); ++entry) {
    // Such as 1_Pooling; hidden folders are a version control's.
    if (entry->is_directory() &&
        (entry.depth() > 0 ||
         entry->path().filename().string().starts_with("."))) {
      entry.disable_recursion_pending();
    }
    const std::string extension = entry->path().extension().string();
    const bool is_copied =
        std::find(kCopied.begin(), kCopied.end(), extension) != kCopied.end();
    if (!is_copied || !entry->is_regular_file()) continue;
    const fs::path target = to / fs::relative(entry->path(), from);
    fs::create_directories(target.parent_path());
    fs::copy_file(entry->path(), target);
  }
}

ExportDescription dynamo_export(const CompileOptions& options) {
  ExportDescription description =
      inspect(options.path,
              {.subfolder = options.subfolder, .file_name = options.file_name});
  if (description.format != "dynamo") {
    throw InvalidArgument(options.path + " is an export of format '" +
                          description.format +
                          "': only 'dynamo' ones, with .pt2 files, can be "
                          "compiled");
  }
  return description;
}

void show_progress(const std::string& component, std::size_t index,
                   std::size_t count) {
  const std::string line = "modelrun: compiling '" + clean(component) + "' (" +
                           std::to_string(index + 1) + " of " +
                           std::to_string(count) +
                           "), which can take minutes\n";
  std::fputs(line.c_str(), stderr);
}

void report(const CompileOptions& options, const fs::path& output,
            const std::string& torch, const std::vector<Compiled>& compiled) {
  if (options.json) {
    Json components = Json::array();
    for (const Compiled& each : compiled) {
      components.push_back({{"name", each.name},
                            {"file", each.file},
                            {"size", each.size},
                            {"seconds", each.seconds}});
    }
    print_json(Json{{"directory", output.string()},
                    {"torch", torch},
                    {"components", std::move(components)}});
    return;
  }
  print(clean(output.string()) + "\n");
  for (const Compiled& each : compiled) {
    print("  " + clean(each.name) + ": " + clean(each.file) + ", " +
          readable_size(static_cast<double>(each.size)) + "\n");
  }
  print(
      "It holds native code: load it with --option allow_native_code=true.\n");
}

int compile_export(const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const ExportDescription description = dynamo_export(options);
  const fs::path from = description.directory;
  fs::path output = options.output;
  if (output.empty()) {
    output = fs::absolute(from).lexically_normal();
    if (!output.has_filename()) output = output.parent_path();
    output += "-compiled";
  }
  NewFolder folder(output);
  copy_other_files(from, folder.path());
  const fs::path manifest = from / "export.json";
  const bool has_manifest = description.layout == "export.json";
  const std::string python = python_of(options.python);
  Conversation said;
  std::vector<Compiled> compiled;
  for (const ComponentDescription& component : description.components) {
    show_progress(component.name, compiled.size(),
                  description.components.size());
    const fs::path file = component.file.filename();
    const auto start = Clock::now();
    run_script(python, has_manifest ? manifest : fs::path(), component,
               folder.path() / file, said);
    const std::chrono::duration<double> time = Clock::now() - start;
    compiled.push_back({.name = component.name,
                        .file = file.string(),
                        .size = fs::file_size(folder.path() / file),
                        .seconds = time.count()});
  }
  folder.keep();
  report(options, output, said.torch, compiled);
  return exit_ok;
}

}  // namespace

void add_compile(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "compile",
      "Compile a torch.export archive to native code for this machine");
  const auto options = std::make_shared<CompileOptions>();
  add_export_options(*command, *options);
  command
      ->add_option("--output,-o", options->output,
                   "The folder to make; by default DIR-compiled")
      ->type_name("PATH");
  command
      ->add_option("--python", options->python,
                   "The Python that has torch; by default that of the active "
                   "environment, or python3")
      ->type_name("PATH");
  command->footer(
      "Only an export that you trust: Python's torch opens it.\n"
      "Examples:\n"
      "  modelrun compile path/to/export\n"
      "  modelrun compile path/to/export -o compiled --python venv/bin/python\n"
      "  modelrun run compiled inputs.safetensors "
      "--option allow_native_code=true");
  command->callback([options, &action] {
    action = [options] { return compile_export(*options); };
  });
}

}  // namespace modelrun::cli
