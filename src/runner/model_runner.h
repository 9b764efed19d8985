// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "modelrun/exported_model.h"
#include "modelrun/value.h"
#include "runner/call_state.h"
#include "runner/input_plan.h"
#include "runner/output_plan.h"

namespace modelrun {

namespace detail {
class Frame;
}

struct RunnerOptions {
  /// For messages.
  std::string component;
  Device device;
  bool check_recorded_shapes = true;
  /// Inputs that index an embedding, as the program shows it.
  std::vector<IndexedRows> indexed_rows = {};
};

/// Runs one program of an export on the source model's kwargs.
///
/// A call goes one way: kwargs are bound to inputs and checked, the request
/// runs, its outputs fill a frame of the recorded structure. Immutable, calls
/// are thread-safe: each takes a request from a pool. Held by shared_ptr, since
/// shared outputs keep it alive.
class ModelRunner : public std::enable_shared_from_this<ModelRunner> {
 public:
  ModelRunner(std::shared_ptr<const Session> session, const Metadata* metadata,
              RunnerOptions options);

  Outputs operator()(Kwargs kwargs, const CallOptions& options) const;

  [[nodiscard]] const InputPlan& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const Session& session() const noexcept { return *session_; }
  [[nodiscard]] Device device() const noexcept { return options_.device; }

 private:
  friend class detail::BoundRun;
  class Lease;

  [[nodiscard]] std::unique_ptr<CallState> take_state() const;
  [[nodiscard]] std::unique_ptr<CallState> make_state() const;
  /// Binds the kwargs to the request of `state`, in place or from copies.
  void bind_inputs(CallState& state, Kwargs kwargs, bool share) const;
  /// Binds one tensor of a call, or clears the port when it is null.
  void bind_input(Request& request, std::size_t slot,
                  const Tensor* tensor) const;
  void warn_of_dropped(std::span<const std::string_view> names) const;
  /// Runs the request; a failure says which inputs the call had.
  void run(CallState& state, std::span<const Tensor* const> inputs,
           const std::stop_token& stop) const;
  Outputs owned_outputs(CallState& state, const std::stop_token& stop) const;
  Outputs shared_outputs(std::shared_ptr<Lease> lease,
                         const std::stop_token& stop) const;
  /// Writes outputs into the buffers of an earlier run where their shapes are
  /// sure to be the same.
  void bind_outputs(CallState& state) const;
  void unbind_outputs(CallState& state) const;
  /// Fetches the outputs that are not bound into the buffers.
  void fetch_outputs(CallState& state) const;

  RunnerOptions options_;
  std::shared_ptr<const Session> session_;
  InputPlan inputs_;
  OutputPlan outputs_;
  mutable CallStatePool pool_;
  mutable std::mutex warned_mutex_;
  mutable std::set<std::string, std::less<>> warned_;
};

namespace detail {

/// The state of a `BoundCall`.
class BoundRun {
 public:
  BoundRun(std::shared_ptr<const ModelRunner> runner, Kwargs kwargs);
  const Outputs& run(const std::stop_token& stop);

 private:
  void bind_kind(modelrun_port_kind kind);
  void make_outputs();

  std::shared_ptr<const ModelRunner> runner_;
  std::unique_ptr<CallState> state_;
  /// Keeps the bound memory alive.
  std::vector<Tensor> inputs_;
  std::vector<const Tensor*> input_pointers_;
  std::shared_ptr<Frame> frame_;
  Outputs outputs_;
};

}  // namespace detail
}  // namespace modelrun
