// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <dlfcn.h>

#include <exception>
#include <utility>

#include "backend/plugin_call.h"
#include "backend/signature.h"
#include "core/dlpack.h"
#include "modelrun/error.h"
#include "modelrun/log.h"

namespace modelrun {

namespace {

/// The file that a table comes from, for messages.
std::string origin(const modelrun_backend_table* table) {
  Dl_info info{};
  if (dladdr(table, &info) != 0 && info.dli_fname != nullptr) {
    return "plugin " + std::string(info.dli_fname);
  }
  return "backend table in this process";
}

bool has_every_function(const modelrun_backend_table& table) noexcept {
  return table.backend_create && table.backend_destroy && table.describe &&
         table.session_create && table.session_destroy &&
         table.session_signature && table.request_create &&
         table.request_destroy && table.request_bind && table.request_run &&
         table.request_fetch && table.request_cancel;
}

void check_table(const modelrun_backend_table* table) {
  if (table == nullptr) throw BackendError("the plugin gave no backend table");
  // The size says which of the fields may be read at all.
  constexpr std::size_t kUpToAbi =
      offsetof(modelrun_backend_table, abi) + sizeof(table->abi);
  if (table->struct_size < kUpToAbi) {
    throw BackendError(origin(table) + ": expected a table of " +
                       std::to_string(sizeof(modelrun_backend_table)) +
                       " bytes, got " + std::to_string(table->struct_size));
  }
  if (table->abi != MODELRUN_BACKEND_ABI) {
    throw BackendError(origin(table) + ": expected backend ABI " +
                       std::to_string(MODELRUN_BACKEND_ABI) + ", got " +
                       std::to_string(table->abi) +
                       "; use the plugin that was built with this library");
  }
  if (table->struct_size < sizeof(modelrun_backend_table)) {
    throw BackendError(origin(table) + ": expected a table of " +
                       std::to_string(sizeof(modelrun_backend_table)) +
                       " bytes, got " + std::to_string(table->struct_size));
  }
  if (table->name == nullptr || table->version == nullptr) {
    throw BackendError(origin(table) + ": the table has no name or version");
  }
  if (!has_every_function(*table)) {
    throw BackendError(origin(table) + ": the table of backend '" +
                       table->name + "' lacks a function; all are required");
  }
}

LogLevel to_log_level(modelrun_log_level level) noexcept {
  switch (level) {
    case MODELRUN_LOG_DEBUG:
      return LogLevel::debug;
    case MODELRUN_LOG_INFO:
      return LogLevel::info;
    case MODELRUN_LOG_WARNING:
      return LogLevel::warning;
    default:
      return LogLevel::error;
  }
}

void host_log(void* /*context*/, modelrun_log_level level, const char* text,
              size_t length) noexcept {
  if (text != nullptr) log(to_log_level(level), {text, length});
}

std::string describe_with(const modelrun_backend_table& table,
                          modelrun_backend* backend,
                          modelrun_session* session) {
  TextSink text;
  call_plugin(table.name, "describe", [&](const modelrun_sink* error) {
    return table.describe(backend, session, text.get(), error);
  });
  return text.text();
}

[[noreturn]] void throw_nothing_made(const char* backend, const char* what) {
  throw BackendError("backend '" + std::string(backend) +
                     "' said ok and made no " + what);
}

const char* kind_name(modelrun_port_kind kind) noexcept {
  if (kind == MODELRUN_INPUT) return "input";
  return kind == MODELRUN_OUTPUT ? "output" : "state";
}

}  // namespace

std::shared_ptr<Backend> Backend::create(const modelrun_backend_table* table,
                                         std::shared_ptr<void> library,
                                         std::filesystem::path runtime_path) {
  check_table(table);
  std::shared_ptr<Backend> backend(new Backend());
  backend->table_ = table;
  backend->library_ = std::move(library);
  backend->name_ = table->name;
  backend->runtime_path_ = std::move(runtime_path);
  backend->runtime_path_text_ = backend->runtime_path_.string();
  backend->host_.struct_size = sizeof(modelrun_host);
  backend->host_.log = &host_log;
  if (!backend->runtime_path_text_.empty()) {
    backend->host_.runtime_path = backend->runtime_path_text_.c_str();
  }
  // Taken over only on success: a plugin that fails may leave anything here.
  modelrun_backend* handle = nullptr;
  call_plugin(table->name, "backend_create", [&](const modelrun_sink* error) {
    return table->backend_create(&backend->host_, &handle, error);
  });
  if (handle == nullptr) throw_nothing_made(table->name, "backend");
  backend->handle_ = handle;
  return backend;
}

Backend::~Backend() {
  if (handle_ != nullptr) table_->backend_destroy(handle_);
}

std::string Backend::describe() const {
  return describe_with(*table_, handle_, nullptr);
}

std::shared_ptr<Session> Session::create(std::shared_ptr<Backend> backend,
                                         const std::filesystem::path& program,
                                         const std::string& options) {
  const modelrun_backend_table& table = backend->table();
  std::shared_ptr<Session> session(new Session());
  session->backend_ = std::move(backend);
  const std::string path = std::filesystem::absolute(program).string();
  modelrun_session* handle = nullptr;
  call_plugin(table.name, "session_create", [&](const modelrun_sink* error) {
    return table.session_create(session->backend_->handle(), path.c_str(),
                                options.c_str(), &handle, error);
  });
  if (handle == nullptr) throw_nothing_made(table.name, "session");
  session->handle_ = handle;
  session->signature_ =
      copy_signature(table.session_signature(session->handle_), path);
  return session;
}

Session::~Session() {
  if (handle_ != nullptr) backend_->table().session_destroy(handle_);
}

std::string Session::describe() const {
  return describe_with(backend_->table(), backend_->handle(), handle_);
}

Request::Request(std::shared_ptr<const Session> session)
    : session_(std::move(session)), table_(&session_->backend().table()) {
  call_plugin(table_->name, "request_create", [&](const modelrun_sink* error) {
    return table_->request_create(session_->handle(), &handle_, error);
  });
  if (handle_ == nullptr) throw_nothing_made(table_->name, "request");
}

Request::~Request() { table_->request_destroy(handle_); }

void Request::bind(modelrun_port_kind kind, std::size_t index,
                   const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_contiguous()) {
    throw InvalidArgument(std::string(kind_name(kind)) + ' ' +
                          std::to_string(index) +
                          " cannot be bound: expected a contiguous tensor, "
                          "got " +
                          (tensor.defined() ? "a strided one" : "none"));
  }
  DLTensor view{};
  view.data = tensor.raw_data();
  view.device = to_dlpack(tensor.device());
  view.ndim = static_cast<std::int32_t>(tensor.rank());
  view.dtype = to_dlpack(tensor.dtype());
  view.shape = const_cast<std::int64_t*>(tensor.shape().data());
  call_plugin(table_->name, "request_bind", [&](const modelrun_sink* error) {
    return table_->request_bind(handle_, kind, index, &view, error);
  });
}

void Request::clear(modelrun_port_kind kind, std::size_t index) {
  call_plugin(table_->name, "request_bind", [&](const modelrun_sink* error) {
    return table_->request_bind(handle_, kind, index, nullptr, error);
  });
}

void Request::run() {
  call_plugin(table_->name, "request_run", [&](const modelrun_sink* error) {
    return table_->request_run(handle_, error);
  });
}

Tensor Request::fetch(modelrun_port_kind kind, std::size_t index) {
  DLManagedTensorVersioned* managed = nullptr;
  call_plugin(table_->name, "request_fetch", [&](const modelrun_sink* error) {
    return table_->request_fetch(handle_, kind, index, &managed, error);
  });
  if (managed == nullptr) throw_nothing_made(table_->name, "tensor");
  try {
    return Tensor::from_dlpack(managed);
  } catch (...) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    throw;
  }
}

void Request::cancel() noexcept { table_->request_cancel(handle_); }

}  // namespace modelrun
