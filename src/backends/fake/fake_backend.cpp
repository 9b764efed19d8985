// SPDX-License-Identifier: Apache-2.0
#include "fake_backend.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "failure.h"
#include "request.h"
#include "script.h"

using modelrun::fake::Counts;
using modelrun::fake::Script;
using modelrun::fake::ScriptPort;
using Json = nlohmann::json;

struct modelrun_backend {
  std::string runtime_path;
  std::atomic<int> sessions{0};
};

struct modelrun_session {
  Script script;
  Json options;
  Counts counts;
  std::atomic<int> failures{0};
  std::vector<modelrun_port> inputs;
  std::vector<modelrun_port> outputs;
  std::vector<modelrun_port> states;
  modelrun_signature signature{};
};

struct modelrun_request {
  modelrun::fake::Request request;
  explicit modelrun_request(modelrun_session& session)
      : request(session.script, session.counts, session.failures) {}
};

namespace modelrun::fake {

namespace {

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
    result.push_back(view);
  }
  return result;
}

void make_signature(modelrun_session& session) {
  session.inputs = views(session.script.inputs);
  session.outputs = views(session.script.outputs);
  session.states = views(session.script.states);
  session.signature = {
      .struct_size = sizeof(modelrun_signature),
      .port_size = sizeof(modelrun_port),
      .input_count = session.inputs.size(),
      .inputs = session.inputs.data(),
      .output_count = session.outputs.size(),
      .outputs = session.outputs.data(),
      .state_count = session.states.size(),
      .states = session.states.data(),
  };
}

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
    fail(MODELRUN_INVALID_ARGUMENT,
         "unknown option '" + key + "' of the fake backend; it knows " + list);
  }
  const auto threads = options.find("threads");
  if (threads != options.end() &&
      (!threads->is_number_integer() || threads->get<std::int64_t>() < 1)) {
    fail(MODELRUN_INVALID_ARGUMENT,
         "option 'threads' must be a positive integer, got " + threads->dump());
  }
  const auto device = options.find("device");
  if (device != options.end() && *device != "cpu") {
    fail(MODELRUN_UNSUPPORTED, "device " + device->dump() +
                                   " is not there; the fake backend has "
                                   "the device cpu only");
  }
}

Json read_options(const char* text) {
  Json options = Json::parse(text, nullptr, false);
  if (!options.is_object()) {
    fail(MODELRUN_INVALID_ARGUMENT, "options are not a JSON object");
  }
  return options;
}

Json description(const modelrun_backend& backend) {
  return {{"runtime", "fake"},
          {"version", "1"},
          {"devices", {"cpu"}},
          {"options", {"device", "threads"}},
          {"runtime_path", backend.runtime_path},
          {"sessions", backend.sessions.load()}};
}

Json description(const modelrun_session& session) {
  const Counts& counts = session.counts;
  return {{"device", "cpu"},
          {"threads", session.options.value("threads", 1)},
          {"precision", "float32"},
          {"options", session.options},
          {"counts",
           {{"requests", counts.requests.load()},
            {"binds", counts.binds.load()},
            {"runs", counts.runs.load()},
            {"fetches", counts.fetches.load()},
            {"cancels", counts.cancels.load()}}}};
}

modelrun_status backend_create(const modelrun_host* host,
                               modelrun_backend** backend,
                               const modelrun_sink* error) {
  return guard(error, [&] {
    auto made = std::make_unique<modelrun_backend>();
    if (host->runtime_path != nullptr) made->runtime_path = host->runtime_path;
    constexpr std::string_view kLine = "fake backend opened";
    host->log(host->context, MODELRUN_LOG_DEBUG, kLine.data(), kLine.size());
    *backend = made.release();
  });
}

void backend_destroy(modelrun_backend* backend) { delete backend; }

modelrun_status describe(modelrun_backend* backend, modelrun_session* session,
                         const modelrun_sink* text,
                         const modelrun_sink* error) {
  return guard(error, [&] {
    const Json json = session ? description(*session) : description(*backend);
    write(text, json.dump());
  });
}

modelrun_status session_create(modelrun_backend* backend, const char* path,
                               const char* options, modelrun_session** session,
                               const modelrun_sink* error) {
  return guard(error, [&] {
    auto made = std::make_unique<modelrun_session>();
    made->script = load_script(path);
    made->options = read_options(options);
    check_options(made->options, made->script);
    fail_if_scripted(made->script, made->failures, "create");
    make_signature(*made);
    backend->sessions++;
    *session = made.release();
  });
}

void session_destroy(modelrun_session* session) { delete session; }

const modelrun_signature* session_signature(const modelrun_session* session) {
  return &session->signature;
}

modelrun_status request_create(modelrun_session* session,
                               modelrun_request** request,
                               const modelrun_sink* error) {
  return guard(error, [&] {
    session->counts.requests++;
    fail_if_scripted(session->script, session->failures, "request");
    *request = std::make_unique<modelrun_request>(*session).release();
  });
}

void request_destroy(modelrun_request* request) { delete request; }

modelrun_status request_bind(modelrun_request* request, modelrun_port_kind kind,
                             size_t index, const DLTensor* tensor,
                             const modelrun_sink* error) {
  return guard(error, [&] { request->request.bind(kind, index, tensor); });
}

modelrun_status request_run(modelrun_request* request,
                            const modelrun_sink* error) {
  return guard(error, [&] { request->request.run(); });
}

modelrun_status request_fetch(modelrun_request* request,
                              modelrun_port_kind kind, size_t index,
                              DLManagedTensorVersioned** tensor,
                              const modelrun_sink* error) {
  return guard(error, [&] { *tensor = request->request.fetch(kind, index); });
}

void request_cancel(modelrun_request* request) { request->request.cancel(); }

constexpr modelrun_backend_table kTable = {
    .struct_size = sizeof(modelrun_backend_table),
    .abi = MODELRUN_BACKEND_ABI,
    .name = "fake",
    .version = "1",
    .backend_create = backend_create,
    .backend_destroy = backend_destroy,
    .describe = describe,
    .session_create = session_create,
    .session_destroy = session_destroy,
    .session_signature = session_signature,
    .request_create = request_create,
    .request_destroy = request_destroy,
    .request_bind = request_bind,
    .request_run = request_run,
    .request_fetch = request_fetch,
    .request_cancel = request_cancel,
};

}  // namespace

const modelrun_backend_table* table() noexcept { return &kTable; }

}  // namespace modelrun::fake
