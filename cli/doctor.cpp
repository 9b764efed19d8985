// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "backend/registry.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "core/usable_cores.h"
#include "modelrun/backends.h"
#include "modelrun/error.h"
#include "modelrun/version.h"

namespace modelrun::cli {
namespace {

// What one runtime is found to be.
struct Finding {
  RuntimeSearch search;
  /// What the opened runtime says of itself.
  Json description = Json::object();
  /// Why it cannot be used; empty when it can.
  std::string problem;
};

Finding examine(const std::string& backend) {
  Finding finding{find_runtime(backend), Json::object(), {}};
  try {
    finding.description = Json::parse(open_backend(backend)->describe());
  } catch (const std::exception& error) {
    finding.problem = error.what();
  }
  return finding;
}

// Those of the processor's features that decide how fast models run.
std::vector<std::string> cpu_features() {
  constexpr std::array<std::string_view, 13> kFeatures = {
      "avx",      "avx2",        "f16c",        "fma",         "avx_vnni",
      "avx512f",  "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
      "amx_bf16", "amx_int8",    "asimd"};
  std::ifstream info("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; flags.empty() && std::getline(info, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) flags.insert(word);
  }
  std::vector<std::string> features;
  for (const std::string_view feature : kFeatures) {
    if (flags.contains(std::string(feature))) features.emplace_back(feature);
  }
  return features;
}

Json to_json(const Finding& finding) {
  Json tried = Json::array();
  for (const RuntimeAttempt& attempt : finding.search.tried) {
    tried.push_back({{"source", attempt.source},
                     {"where", attempt.where},
                     {"result", attempt.result}});
  }
  const bool usable = finding.problem.empty();
  return {{"backend", finding.search.backend},
          {"usable", usable},
          {"library", finding.search.library.string()},
          {"problem", finding.problem},
          {"fix", usable ? Json() : Json(finding.search.fix)},
          {"description", finding.description},
          {"tried", std::move(tried)}};
}

std::string joined(const Json& list) {
  std::string text;
  if (!list.is_array()) return text;
  for (const Json& item : list) {
    if (!item.is_string()) continue;
    text += (text.empty() ? "" : ", ") + item.get<std::string>();
  }
  return text;
}

void print_field(const char* title, const std::string& value) {
  print("  " + padded(title, 10) + clean(value) + "\n");
}

void print_finding(const Finding& finding) {
  const bool usable = finding.problem.empty();
  const auto& description = finding.description;
  std::string title = finding.search.backend;
  if (description.contains("version") && description["version"].is_string()) {
    title += " " + description["version"].get<std::string>();
  }
  print("\n" +
        (usable ? styled("✓ ", "32", stdout) : styled("✗ ", "31", stdout)) +
        styled(clean(title), "1", stdout) + "\n");
  if (!finding.search.library.empty()) {
    print_field("library", finding.search.library.string());
  }
  if (usable) {
    for (const char* key : {"formats", "devices", "providers"}) {
      if (description.contains(key)) print_field(key, joined(description[key]));
    }
    return;
  }
  if (!finding.search.library.empty()) print_field("problem", finding.problem);
  Table table({{"looked in"}, {"at"}, {"result"}});
  for (const RuntimeAttempt& attempt : finding.search.tried) {
    table.add({attempt.source, attempt.where, attempt.result});
  }
  if (!finding.search.tried.empty()) print(table.text(2, terminal_width()));
  if (!finding.search.fix.empty()) {
    print_field("add it", finding.search.fix);
  }
}

int examine_all(bool json) {
  std::vector<Finding> findings;
  for (const std::string& backend : registered_backends()) {
    findings.push_back(examine(backend));
  }
  const bool usable = std::any_of(
      findings.begin(), findings.end(),
      [](const Finding& finding) { return finding.problem.empty(); });
  const auto features = cpu_features();
  if (json) {
    Json runtimes = Json::array();
    for (const Finding& finding : findings) {
      runtimes.push_back(to_json(finding));
    }
    print_json({{"version", version()},
                {"usable", usable},
                {"usable_cores", usable_cores()},
                {"cpu_features", features},
                {"runtimes", std::move(runtimes)}});
  } else {
    print(styled("modelrun " + std::string(version()), "1", stdout) + "\n");
    print_field("cores", std::to_string(usable_cores()) + " usable");
    print_field("CPU", joined(Json(features)));
    for (const Finding& finding : findings) print_finding(finding);
    if (!usable)
      print(
          "\nNo runtime can be used: exports can be inspected, "
          "but not run.\n");
  }
  return usable ? exit_ok : exit_failed;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Say which runtimes can be used and what is missing");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON object");
  command->footer(
      "Examples:\n"
      "  modelrun doctor\n"
      "  modelrun doctor --json\n"
      "Exits with 0 when at least one runtime can be used, else with 1.");
  command->callback(
      [json, &action] { action = [json] { return examine_all(*json); }; });
}

}  // namespace modelrun::cli
