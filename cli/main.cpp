// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "modelrun/error.h"
#include "modelrun/log.h"
#include "modelrun/version.h"

namespace modelrun::cli {
namespace {

void complain(std::string_view kind, const char* style,
              std::string_view message) {
  const std::string line = "modelrun: " + styled(kind, style, stderr) + " " +
                           std::string(message) + "\n";
  std::fputs(line.c_str(), stderr);
}

int fail(int code, std::string_view message) {
  complain("error:", "1;31", message);
  return code;
}

int fail_usage(const CLI::App& app, std::string_view message) {
  std::string command = "modelrun";
  for (const CLI::App* chosen : app.get_subcommands()) {
    command += " " + chosen->get_name();
  }
  fail(exit_usage, message);
  std::fprintf(stderr, "Try '%s --help'.\n", command.c_str());
  return exit_usage;
}

// Whoever reads may have gone, which is no failure of ours to tell of.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return exit_failed;
  return fail(exit_failed, "cannot write to the standard output");
}

int run(CLI::App& app, const Action& action) {
  try {
    return finish(action());
  } catch (const UsageError& error) {
    return fail_usage(app, error.what());
  } catch (const InvalidArgument& error) {
    return fail(exit_refused, error.what());
  } catch (const NotFound& error) {
    return fail(exit_refused, error.what());
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}

int main(int argc, char** argv) {
  // For the widths of characters; numbers stay as they are.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) {
    std::setlocale(LC_CTYPE, "");
  }
  set_log_callback([](LogLevel level, std::string_view message) {
    const bool is_error = level == LogLevel::error;
    complain(is_error ? "error:" : "warning:", is_error ? "1;31" : "1;33",
             clean(message));
  });
  CLI::App app("Runs exported Hugging Face models on their own runtimes.",
               "modelrun");
  app.set_version_flag("--version", "modelrun " + std::string(version()));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  modelrun inspect all-MiniLM-L6-v2\n"
      "  modelrun similar all-MiniLM-L6-v2 \"A cat.\" \"A dog.\"\n"
      "  modelrun doctor\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 input refused.");
  Action action;
  add_inspect(app, action);
  add_run(app, action);
  add_embed(app, action);
  add_similar(app, action);
  add_compile(app, action);
  add_export(app, action);
  add_doctor(app, action);
  try {
    check_arguments({argv, static_cast<std::size_t>(argc)});
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return fail_usage(app, error.what());
    return finish(app.exit(error));
  } catch (const InvalidArgument& error) {
    return fail(exit_refused, error.what());
  }
  return run(app, action);
}

}  // namespace
}  // namespace modelrun::cli

int main(int argc, char** argv) { return modelrun::cli::main(argc, argv); }
