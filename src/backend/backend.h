// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modelrun/backend.h"
#include "modelrun/tensor.h"

namespace modelrun {

/// A port of a program, as the runner plans with it.
struct Port {
  std::string name;
  std::vector<std::string> aliases;
  DType dtype = DType::float32;
  /// Whether the program says the rank; if not, `dims` is empty.
  bool ranked = true;
  /// -1 for a dynamic axis.
  std::vector<std::int64_t> dims;
  /// One per axis: empty, or the symbol or expression of a dynamic axis.
  std::vector<std::string> symbols;
  /// The JSON text of an output that is no tensor but a value.
  std::optional<std::string> constant;
  /// An output that is no tensor but a number that the run computes.
  bool is_number = false;
};

struct Signature {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Port> states;
};

/// An opened plugin with its runtime. Thread-safe.
class Backend : public std::enable_shared_from_this<Backend> {
 public:
  /// Checks the table (ABI number, size, entries) and opens the runtime.
  /// `library` keeps the plugin loaded.
  static std::shared_ptr<Backend> create(const modelrun_backend_table* table,
                                         std::shared_ptr<void> library,
                                         std::filesystem::path runtime_path);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The runtime that was opened; empty when the plugin needs none.
  [[nodiscard]] const std::filesystem::path& runtime_path() const noexcept {
    return runtime_path_;
  }
  /// JSON text of one object: runtime, version, devices, options.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] const modelrun_backend_table& table() const noexcept {
    return *table_;
  }
  [[nodiscard]] modelrun_backend* handle() const noexcept { return handle_; }

 private:
  Backend() = default;

  const modelrun_backend_table* table_ = nullptr;
  modelrun_backend* handle_ = nullptr;
  std::shared_ptr<void> library_;
  std::string name_;
  std::filesystem::path runtime_path_;
  /// Stays at one address: the plugin keeps pointers into it.
  std::string runtime_path_text_;
  modelrun_host host_{};
};

/// One loaded program: immutable, shared by threads.
class Session {
 public:
  /// `options` is the JSON text of one object.
  static std::shared_ptr<Session> create(std::shared_ptr<Backend> backend,
                                         const std::filesystem::path& program,
                                         const std::string& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const Signature& signature() const noexcept {
    return signature_;
  }
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] const Backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] modelrun_session* handle() const noexcept { return handle_; }

 private:
  Session() = default;

  std::shared_ptr<Backend> backend_;
  modelrun_session* handle_ = nullptr;
  Signature signature_;
};

/// Bound buffers and state of calls to one session. One thread at a time,
/// `cancel` apart. Nothing here allocates, tensors that are fetched apart.
class Request {
 public:
  explicit Request(std::shared_ptr<const Session> session);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// The memory is borrowed until the port is bound anew; keep the tensor.
  void bind(modelrun_port_kind kind, std::size_t index, const Tensor& tensor);
  void clear(modelrun_port_kind kind, std::size_t index);
  void run();
  [[nodiscard]] Tensor fetch(modelrun_port_kind kind, std::size_t index);
  void cancel() noexcept;

 private:
  std::shared_ptr<const Session> session_;
  const modelrun_backend_table* table_;
  modelrun_request* handle_ = nullptr;
};

}  // namespace modelrun
