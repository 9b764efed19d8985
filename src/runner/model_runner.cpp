// SPDX-License-Identifier: Apache-2.0
#include "runner/model_runner.h"

#include <utility>

#include "core/frame.h"
#include "core/nearest.h"
#include "modelrun/error.h"
#include "modelrun/log.h"

namespace modelrun {

/// A call state on loan: back in its pool when nobody holds it any more.
class ModelRunner::Lease {
 public:
  Lease(std::shared_ptr<const ModelRunner> runner,
        std::unique_ptr<CallState> state)
      : runner_(std::move(runner)), state_(std::move(state)) {}
  ~Lease() { runner_->pool_.give(std::move(state_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  [[nodiscard]] CallState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const ModelRunner> runner_;
  std::unique_ptr<CallState> state_;
};

ModelRunner::ModelRunner(std::shared_ptr<const Session> session,
                         const Metadata* metadata, RunnerOptions options)
    : options_(std::move(options)),
      session_(std::move(session)),
      inputs_(session_->signature(), metadata, options_.indexed_rows),
      outputs_(session_->signature(), metadata, inputs_.symbols()) {}

Outputs ModelRunner::operator()(Kwargs kwargs,
                                const CallOptions& options) const {
  if (options.share_outputs) {
    auto lease = std::make_shared<Lease>(shared_from_this(), take_state());
    bind_inputs(lease->state(), kwargs, options.share_inputs);
    return shared_outputs(std::move(lease), options.stop);
  }
  const Lease lease(shared_from_this(), take_state());
  CallState& state = lease.state();
  bind_inputs(state, kwargs, options.share_inputs);
  return owned_outputs(state, options.stop);
}

std::unique_ptr<CallState> ModelRunner::take_state() const {
  if (auto idle = pool_.take()) return idle;
  pool_.reserve();
  return make_state();
}

std::unique_ptr<CallState> ModelRunner::make_state() const {
  return std::make_unique<CallState>(session_, inputs_, outputs_.slots().size(),
                                     options_.device,
                                     options_.check_recorded_shapes);
}

void ModelRunner::bind_inputs(CallState& state, Kwargs kwargs,
                              bool share) const {
  const auto inputs = state.binder.bind(kwargs);
  if (!state.binder.dropped().empty()) {
    warn_of_dropped(state.binder.dropped());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* input = inputs[i];
    if (!share && input != nullptr && !state.binder.is_converted(i)) {
      state.copies[i] = input->clone();
      input = &state.copies[i];
    }
    bind_input(state.request, i, input);
  }
}

// A state that the call does not give starts anew: nothing of an earlier
// sequence is left.
void ModelRunner::bind_input(Request& request, std::size_t slot,
                             const Tensor* tensor) const {
  const InputSlot& input = inputs_.slots()[slot];
  if (tensor != nullptr) {
    request.bind(input.kind, input.port, *tensor);
  } else {
    request.clear(input.kind, input.port);
  }
}

void ModelRunner::warn_of_dropped(
    std::span<const std::string_view> names) const {
  std::vector<std::string> fresh;
  {
    const std::lock_guard lock(warned_mutex_);
    for (const std::string_view name : names) {
      if (warned_.contains(name)) continue;
      warned_.emplace(name);
      fresh.emplace_back(name);
    }
  }
  if (fresh.empty()) return;
  log(LogLevel::warning,
      "component '" + options_.component +
          "' drops kwargs that the export was not traced with: " +
          quoted_list(fresh));
}

void ModelRunner::run(CallState& state, std::span<const Tensor* const> inputs,
                      const std::stop_token& stop) const {
  try {
    const std::stop_callback cancel(
        stop, [&state]() noexcept { state.request.cancel(); });
    if (stop.stop_requested()) throw BackendError("the run was cancelled");
    state.request.run();
  } catch (const Error& error) {
    std::string shapes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      if (!shapes.empty()) shapes += ", ";
      shapes += "'" + inputs_.slots()[i].path + "' " + to_string(*inputs[i]);
    }
    throw BackendError("component '" + options_.component + "' failed in " +
                       session_->backend().name() + ": " + error.what() +
                       " (the inputs passed every check that the export "
                       "allows, so a size of its trace may be part of the "
                       "program; inputs of this call: " +
                       shapes + ")");
  }
}

Outputs ModelRunner::owned_outputs(CallState& state,
                                   const std::stop_token& stop) const {
  unbind_outputs(state);
  run(state, state.binder.inputs(), stop);
  state.binder.release();
  const auto& slots = outputs_.slots();
  auto frame = detail::Frame::create(outputs_.structure(), slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    frame->tensors()[i] = state.request.fetch(slots[i].kind, slots[i].port);
  }
  return detail::Frame::root(std::move(frame));
}

Outputs ModelRunner::shared_outputs(std::shared_ptr<Lease> lease,
                                    const std::stop_token& stop) const {
  CallState& state = lease->state();
  bind_outputs(state);
  run(state, state.binder.inputs(), stop);
  state.binder.release();
  fetch_outputs(state);
  auto frame =
      detail::Frame::create(outputs_.structure(), state.buffers.size());
  for (std::size_t i = 0; i < state.buffers.size(); ++i) {
    const Tensor& buffer = state.buffers[i];
    frame->tensors()[i] = Tensor::view(buffer.raw_data(),
                                       {.dtype = buffer.dtype(),
                                        .shape = buffer.shape(),
                                        .strides = buffer.strides(),
                                        .device = buffer.device()},
                                       lease);
  }
  return detail::Frame::root(std::move(frame));
}

void ModelRunner::bind_outputs(CallState& state) const {
  for (std::size_t i = 0; i < state.buffers.size(); ++i) {
    const Tensor& buffer = state.buffers[i];
    const std::size_t port = outputs_.slots()[i].port;
    const bool fits =
        buffer.defined() && buffer.is_contiguous() && !state.misdeclared[i] &&
        outputs_.has_shape(i, state.binder.symbol_values(), buffer.shape());
    if (fits) {
      state.request.bind(MODELRUN_OUTPUT, port, buffer);
    } else if (state.bound[i]) {
      state.request.clear(MODELRUN_OUTPUT, port);
    }
    state.bound[i] = fits;
  }
}

void ModelRunner::unbind_outputs(CallState& state) const {
  for (std::size_t i = 0; i < state.bound.size(); ++i) {
    if (!state.bound[i]) continue;
    state.request.clear(MODELRUN_OUTPUT, outputs_.slots()[i].port);
    state.bound[i] = false;
  }
}

void ModelRunner::fetch_outputs(CallState& state) const {
  for (std::size_t i = 0; i < state.buffers.size(); ++i) {
    if (state.bound[i]) continue;
    const OutputPlan::Slot& slot = outputs_.slots()[i];
    state.buffers[i] = state.request.fetch(slot.kind, slot.port);
    if (!outputs_.has_shape(i, state.binder.symbol_values(),
                            state.buffers[i].shape())) {
      state.misdeclared[i] = true;
    }
  }
}

namespace detail {

BoundRun::BoundRun(std::shared_ptr<const ModelRunner> runner, Kwargs kwargs)
    : runner_(std::move(runner)), state_(runner_->make_state()) {
  InputBinder& binder = state_->binder;
  const auto inputs = binder.bind(kwargs);
  runner_->warn_of_dropped(binder.dropped());
  const auto& slots = runner_->inputs_.slots();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (binder.is_converted(i)) {
      throw InvalidArgument("cannot bind input '" + slots[i].path +
                            "' in place: expected contiguous " +
                            to_string(slots[i]) +
                            "; convert it, and keep writing to the result");
    }
    inputs_.push_back(inputs[i] != nullptr ? *inputs[i] : Tensor());
  }
  for (const Tensor& input : inputs_) {
    input_pointers_.push_back(input.defined() ? &input : nullptr);
  }
  bind_kind(MODELRUN_INPUT);
}

void BoundRun::bind_kind(modelrun_port_kind kind) {
  for (std::size_t i = 0; i < input_pointers_.size(); ++i) {
    if (runner_->inputs_.slots()[i].kind != kind) continue;
    runner_->bind_input(state_->request, i, input_pointers_[i]);
  }
}

const Outputs& BoundRun::run(const std::stop_token& stop) {
  // Each run starts from the states that were given, not from the last one's.
  bind_kind(MODELRUN_STATE);
  runner_->run(*state_, input_pointers_, stop);
  if (frame_ == nullptr) {
    make_outputs();
    return outputs_;
  }
  for (std::size_t i = 0; i < state_->bound.size(); ++i) {
    if (state_->bound[i]) continue;
    const OutputPlan::Slot& slot = runner_->outputs_.slots()[i];
    frame_->tensors()[i] = state_->request.fetch(slot.kind, slot.port);
  }
  outputs_ = Frame::root(frame_);
  return outputs_;
}

// The first run finds the outputs' shapes; from then on each run writes to the
// same memory.
void BoundRun::make_outputs() {
  runner_->fetch_outputs(*state_);
  runner_->bind_outputs(*state_);
  frame_ = Frame::create(runner_->outputs_.structure(), state_->buffers.size());
  for (std::size_t i = 0; i < state_->buffers.size(); ++i) {
    frame_->tensors()[i] = state_->buffers[i];
  }
  outputs_ = Frame::root(frame_);
}

}  // namespace detail
}  // namespace modelrun
