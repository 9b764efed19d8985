// SPDX-License-Identifier: Apache-2.0
#include "fake_backend.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "backends/common/failure.h"
#include "backends/common/log_hosts.h"
#include "backends/common/plugin_table.h"
#include "request.h"
#include "script.h"

namespace modelrun::fake {
namespace {

using Json = nlohmann::json;
using plugin::Failure;

std::vector<modelrun_port> views(const std::vector<ScriptPort>& ports) {
  std::vector<modelrun_port> result;
  for (const ScriptPort& port : ports) {
    modelrun_port view{};
    view.name = port.name.c_str();
    view.aliases = port.alias_pointers.data();
    view.alias_count = port.alias_pointers.size();
    view.dtype = port.dtype;
    view.rank = port.dims ? static_cast<std::int32_t>(port.dims->size()) : -1;
    view.dims = port.dims ? port.dims->data() : nullptr;
    if (!port.symbols.empty()) view.symbols = port.symbol_pointers.data();
    view.is_number = port.is_number ? 1 : 0;
    result.push_back(view);
  }
  return result;
}

/// The ports of a script as the contract has them.
class Signature {
 public:
  explicit Signature(const Script& script)
      : inputs_(views(script.inputs)),
        outputs_(views(script.outputs)),
        states_(views(script.states)),
        view_{.struct_size = sizeof(modelrun_signature),
              .port_size = sizeof(modelrun_port),
              .input_count = inputs_.size(),
              .inputs = inputs_.data(),
              .output_count = outputs_.size(),
              .outputs = outputs_.data(),
              .state_count = states_.size(),
              .states = states_.data()} {}
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  [[nodiscard]] const modelrun_signature& view() const { return view_; }

 private:
  std::vector<modelrun_port> inputs_;
  std::vector<modelrun_port> outputs_;
  std::vector<modelrun_port> states_;
  modelrun_signature view_;
};

std::vector<std::string> known_options(const Script& script) {
  std::vector<std::string> known = {"device", "threads"};
  known.insert(known.end(), script.options.begin(), script.options.end());
  return known;
}

void check_options(const Json& options, const Script& script) {
  const auto known = known_options(script);
  for (const auto& [key, value] : options.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string list;
    for (const std::string& each : known) {
      list += (list.empty() ? "'" : ", '") + each + "'";
    }
    throw plugin::Failure(
        MODELRUN_INVALID_ARGUMENT,
        "unknown option '" + key + "' of the fake backend; it knows " + list);
  }
  const auto threads = options.find("threads");
  if (threads != options.end() &&
      (!threads->is_number_integer() || threads->get<std::int64_t>() < 1)) {
    throw plugin::Failure(
        MODELRUN_INVALID_ARGUMENT,
        "option 'threads' must be a positive integer, got " + threads->dump());
  }
  const auto device = options.find("device");
  if (device != options.end() && *device != "cpu") {
    throw plugin::Failure(MODELRUN_UNSUPPORTED,
                          "device " + device->dump() +
                              " is not there; the fake backend has "
                              "the device cpu only");
  }
}

Json read_options(const char* text) {
  Json options = Json::parse(text, nullptr, false);
  if (!options.is_object()) {
    throw plugin::Failure(MODELRUN_INVALID_ARGUMENT,
                          "options are not a JSON object");
  }
  return options;
}

/// A script with the counts of its calls.
class Session {
 public:
  Session(const char* path, const char* options)
      : script_(load_script(path)),
        options_(read_options(options)),
        signature_(script_) {
    check_options(options_, script_);
    fail_if_scripted(script_, failures_, "create");
  }

  [[nodiscard]] const Signature& signature() const { return signature_; }
  [[nodiscard]] Json describe() const {
    return {{"device", "cpu"},
            {"threads", options_.value("threads", 1)},
            {"precision", "float32"},
            {"options", options_},
            {"counts",
             {{"requests", counts_.requests.load()},
              {"binds", counts_.binds.load()},
              {"runs", counts_.runs.load()},
              {"fetches", counts_.fetches.load()},
              {"cancels", counts_.cancels.load()}}}};
  }
  /// Counts a request on the script, or fails as the script says.
  [[nodiscard]] const Script& begin_request() {
    counts_.requests++;
    fail_if_scripted(script_, failures_, "request");
    return script_;
  }
  [[nodiscard]] Counts& counts() { return counts_; }
  [[nodiscard]] std::atomic<int>& failures() { return failures_; }

 private:
  Script script_;
  Json options_;
  Signature signature_;
  Counts counts_;
  std::atomic<int> failures_{0};
};

class Plugin {
 public:
  static constexpr const char* kName = "fake";
  /// A request of a session that it keeps.
  struct Request : fake::Request {
    explicit Request(std::shared_ptr<Session> of)
        : fake::Request(of->begin_request(), of->counts(), of->failures()),
          session(std::move(of)) {}
    std::shared_ptr<Session> session;
  };

  explicit Plugin(const modelrun_host& host)
      : runtime_path_(host.runtime_path == nullptr ? "" : host.runtime_path) {
    plugin::log_to_host(MODELRUN_LOG_DEBUG, "fake backend opened");
  }

  [[nodiscard]] Json describe() const {
    return {{"runtime", kName},
            {"version", "1"},
            {"devices", {"cpu"}},
            {"options", {"device", "threads"}},
            {"runtime_path", runtime_path_},
            {"sessions", sessions_.load()}};
  }

  std::shared_ptr<Session> open(const char* path, const char* options) {
    auto session = std::make_shared<Session>(path, options);
    ++sessions_;
    return session;
  }

 private:
  std::string runtime_path_;
  std::atomic<int> sessions_{0};
};

}  // namespace

const modelrun_backend_table* table() noexcept {
  return &plugin::PluginTable<Plugin>::kTable;
}

}  // namespace modelrun::fake
