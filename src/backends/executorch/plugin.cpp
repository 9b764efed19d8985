// SPDX-License-Identifier: Apache-2.0
// The C table, and nothing else: each entry casts, calls and guards.
#include <modelrun/backend.h>
#include <modelrun/version.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "backends/common/failure.h"
#include "backends/common/log_hosts.h"
#include "backends/executorch/options.h"
#include "backends/executorch/request.h"
#include "backends/executorch/runtime.h"
#include "backends/executorch/session.h"

namespace ex = modelrun::executorch;
namespace plugin = modelrun::plugin;

struct modelrun_backend {
  std::shared_ptr<ex::Runtime> runtime;
  const modelrun_host* host;
};

struct modelrun_session {
  std::shared_ptr<const ex::Session> session;
};

struct modelrun_request {
  ex::Request request;
};

namespace {

#define MODELRUN_TEXT_OF(x) #x
#define MODELRUN_TEXT(x) MODELRUN_TEXT_OF(x)
constexpr const char* kVersion =
    MODELRUN_TEXT(MODELRUN_VERSION_MAJOR) "." MODELRUN_TEXT(
        MODELRUN_VERSION_MINOR) "." MODELRUN_TEXT(MODELRUN_VERSION_PATCH);

modelrun_status backend_create(const modelrun_host* host,
                               modelrun_backend** backend,
                               const modelrun_sink* error) {
  return plugin::guard(error, [&] {
    // Before the runtime opens, which may log.
    plugin::add_log_host(host);
    try {
      *backend = new modelrun_backend{ex::Runtime::open(*host), host};
    } catch (...) {
      plugin::remove_log_host(host);
      throw;
    }
  });
}

void backend_destroy(modelrun_backend* backend) {
  if (backend == nullptr) return;
  plugin::remove_log_host(backend->host);
  delete backend;
}

modelrun_status describe(modelrun_backend* backend, modelrun_session* session,
                         const modelrun_sink* text,
                         const modelrun_sink* error) {
  return plugin::guard(error, [&] {
    if (session != nullptr) {
      plugin::write_to(text, session->session->describe());
      return;
    }
    ex::Runtime& runtime = *backend->runtime;
    plugin::write_to(text, nlohmann::json{{"runtime", "executorch"},
                                          {"version", runtime.version()},
                                          {"library", runtime.path()},
                                          {"formats", {"executorch"}},
                                          {"devices", {"cpu"}},
                                          {"delegates", runtime.delegates()},
                                          {"options", ex::option_keys()}}
                               .dump(-1, ' ', false,
                                     nlohmann::json::error_handler_t::replace));
  });
}

modelrun_status session_create(modelrun_backend* backend,
                               const char* program_path, const char* options,
                               modelrun_session** session,
                               const modelrun_sink* error) {
  return plugin::guard(error, [&] {
    *session = new modelrun_session{std::make_shared<const ex::Session>(
        backend->runtime, program_path, ex::parse_options(options))};
  });
}

void session_destroy(modelrun_session* session) { delete session; }

const modelrun_signature* session_signature(const modelrun_session* session) {
  return &session->session->signature().view();
}

modelrun_status request_create(modelrun_session* session,
                               modelrun_request** request,
                               const modelrun_sink* error) {
  return plugin::guard(error, [&] {
    *request = new modelrun_request{ex::Request(session->session)};
  });
}

void request_destroy(modelrun_request* request) { delete request; }

modelrun_status request_bind(modelrun_request* request, modelrun_port_kind kind,
                             size_t index, const DLTensor* tensor,
                             const modelrun_sink* error) {
  return plugin::guard(error,
                       [&] { request->request.bind(kind, index, tensor); });
}

modelrun_status request_run(modelrun_request* request,
                            const modelrun_sink* error) {
  return plugin::guard(error, [&] { request->request.run(); });
}

modelrun_status request_fetch(modelrun_request* request,
                              modelrun_port_kind kind, size_t index,
                              DLManagedTensorVersioned** tensor,
                              const modelrun_sink* error) {
  return plugin::guard(error,
                       [&] { *tensor = request->request.fetch(kind, index); });
}

/// A method cannot be interrupted: the run ends.
void request_cancel(modelrun_request*) {}

constexpr modelrun_backend_table kTable{
    .struct_size = sizeof(modelrun_backend_table),
    .abi = MODELRUN_BACKEND_ABI,
    .name = "executorch",
    .version = kVersion,
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

extern "C" __attribute__((visibility("default"))) const modelrun_backend_table*
modelrun_backend_entry_v1() {
  return &kTable;
}
