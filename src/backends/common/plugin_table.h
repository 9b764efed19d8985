// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "backends/common/failure.h"
#include "backends/common/log_hosts.h"

/// The C table of a plugin, and nothing else: each entry casts, calls and
/// guards.
///
/// `Plugin` is the class of its backends:
///
/// - `kName`, the backend's name;
/// - `explicit Plugin(const modelrun_host&)`, which opens the runtime;
/// - `describe() const`, the JSON of the backend;
/// - `open(path, options)`, a shared pointer to an immutable session with
///   `describe()`, its JSON as text or an object, and `signature().view()`;
/// - `Request`, made of that pointer: `bind`, `run`, `fetch`, and `cancel`
///   where a run can be interrupted.
///
/// `kReport` writes the exception in flight and returns its status.
/// `MODELRUN_VERSION` is what the build says.
namespace modelrun::plugin {

template <typename Plugin, auto kReport = report_exception>
class PluginTable {
  using Session = decltype(std::declval<Plugin&>().open(nullptr, nullptr));

  struct Backend {
    explicit Backend(const modelrun_host* log_host) : host(log_host) {}
    /// First, because the runtime may log while it opens and closes.
    struct LogHost {
      explicit LogHost(const modelrun_host* added) : host(added) {
        add_log_host(host);
      }
      ~LogHost() { remove_log_host(host); }
      LogHost(const LogHost&) = delete;
      LogHost& operator=(const LogHost&) = delete;
      const modelrun_host* host;
    } host;
    Plugin plugin{*host.host};
  };
  struct Opened {
    Session session;
  };
  struct Made {
    explicit Made(Session session) : request(std::move(session)) {}
    typename Plugin::Request request;
  };

  static Backend& in(modelrun_backend* handle) {
    return *reinterpret_cast<Backend*>(handle);
  }
  static auto& in(const modelrun_session* handle) {
    return *reinterpret_cast<const Opened*>(handle)->session;
  }
  static auto& in(modelrun_request* handle) {
    return reinterpret_cast<Made*>(handle)->request;
  }

  template <typename Body>
  static modelrun_status guard(const modelrun_sink* error,
                               Body&& body) noexcept {
    try {
      body();
      return MODELRUN_OK;
    } catch (...) {
      return kReport(error);
    }
  }

  static modelrun_status backend_create(const modelrun_host* host,
                                        modelrun_backend** backend,
                                        const modelrun_sink* error) {
    return guard(error, [&] {
      *backend = reinterpret_cast<modelrun_backend*>(new Backend(host));
    });
  }

  static void backend_destroy(modelrun_backend* backend) {
    delete reinterpret_cast<Backend*>(backend);
  }

  static modelrun_status describe(modelrun_backend* backend,
                                  modelrun_session* session,
                                  const modelrun_sink* text,
                                  const modelrun_sink* error) {
    return guard(error, [&] {
      const nlohmann::json json = session == nullptr
                                      ? in(backend).plugin.describe()
                                      : in(session).describe();
      write_to(text, json.dump(-1, ' ', false,
                               nlohmann::json::error_handler_t::replace));
    });
  }

  static modelrun_status session_create(modelrun_backend* backend,
                                        const char* program_path,
                                        const char* options,
                                        modelrun_session** session,
                                        const modelrun_sink* error) {
    return guard(error, [&] {
      *session = reinterpret_cast<modelrun_session*>(
          new Opened{in(backend).plugin.open(program_path, options)});
    });
  }

  static void session_destroy(modelrun_session* session) {
    delete reinterpret_cast<Opened*>(session);
  }

  static const modelrun_signature* session_signature(
      const modelrun_session* session) {
    return &in(session).signature().view();
  }

  static modelrun_status request_create(modelrun_session* session,
                                        modelrun_request** request,
                                        const modelrun_sink* error) {
    return guard(error, [&] {
      *request = reinterpret_cast<modelrun_request*>(
          new Made(reinterpret_cast<Opened*>(session)->session));
    });
  }

  static void request_destroy(modelrun_request* request) {
    delete reinterpret_cast<Made*>(request);
  }

  static modelrun_status request_bind(modelrun_request* request,
                                      modelrun_port_kind kind,
                                      std::size_t index, const DLTensor* tensor,
                                      const modelrun_sink* error) {
    return guard(error, [&] { in(request).bind(kind, index, tensor); });
  }

  static modelrun_status request_run(modelrun_request* request,
                                     const modelrun_sink* error) {
    return guard(error, [&] { in(request).run(); });
  }

  static modelrun_status request_fetch(modelrun_request* request,
                                       modelrun_port_kind kind,
                                       std::size_t index,
                                       DLManagedTensorVersioned** tensor,
                                       const modelrun_sink* error) {
    return guard(error, [&] { *tensor = in(request).fetch(kind, index); });
  }

  static void request_cancel(modelrun_request* request) {
    if constexpr (requires { in(request).cancel(); }) in(request).cancel();
  }

 public:
  static constexpr modelrun_backend_table kTable{
      .struct_size = sizeof(modelrun_backend_table),
      .abi = MODELRUN_BACKEND_ABI,
      .name = Plugin::kName,
      .version = MODELRUN_VERSION,
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
};

}  // namespace modelrun::plugin

/// The one symbol of a plugin, for the class of its backends and, where it is
/// not the common one, its `kReport`.
#define MODELRUN_PLUGIN_ENTRY(...)                              \
  extern "C" __attribute__((visibility("default")))             \
  const modelrun_backend_table*                                 \
  modelrun_backend_entry_v1() {                                 \
    return &modelrun::plugin::PluginTable<__VA_ARGS__>::kTable; \
  }
