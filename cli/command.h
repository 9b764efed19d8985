// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace modelrun::cli {

/// What a command line asks for: returns the exit code.
using Action = std::function<int()>;

/// The exit codes of every command.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_refused = 3
};

/// Each adds a command, which sets `action` when it is the one asked for.
void add_inspect(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_embed(CLI::App& app, Action& action);
void add_similar(CLI::App& app, Action& action);
void add_compile(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);

}  // namespace modelrun::cli
