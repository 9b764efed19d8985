// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/request.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "artifact/printable.h"
#include "backends/common/failure.h"
#include "backends/torch/element_type.h"
#include "backends/torch/fetched_tensor.h"
#include "backends/torch/input_check.h"
#include "backends/torch/node_values.h"
#include "backends/torch/warnings.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

using plugin::checked_view;

/// The number of threads of this thread's operators, set back in the end: a
/// Python process around it has one of its own.
class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(at::get_num_threads()) {
    is_changed_ = before_ != count;
    if (is_changed_) at::set_num_threads(count);
  }
  ~ThreadCount() {
    if (is_changed_) at::set_num_threads(before_);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
  bool is_changed_;
};

at::Tensor tensor_over(const plugin::TensorView& view) {
  // The type was checked before.
  return at::from_blob(view.data, view.dims,
                       at::TensorOptions().dtype(*from_dlpack(view.dtype)));
}

at::Tensor tensor_of(const c10::IValue& value, const PortSpec& port) {
  if (value.isTensor()) return value.toTensor();
  if (!value.isScalar()) {
    throw BackendError("output '" + port.name + "' is " + value.tagKind() +
                       " in this run, expected a tensor");
  }
  return at::scalar_tensor(value.toScalar(),
                           at::TensorOptions().dtype(port.type));
}

/// Whether anything but `tensor` itself refers to its memory.
bool is_shared(const at::Tensor& tensor) {
  return tensor.use_count() > 1 || tensor.storage().use_count() > 1;
}

at::Tensor copied(const at::Tensor& tensor) {
  return tensor.clone(c10::MemoryFormat::Contiguous);
}

}  // namespace

Request::Request(std::shared_ptr<const Session> session)
    : session_(std::move(session)),
      program_(session_->program()),
      input_views_(program_.inputs.size()),
      inputs_(program_.inputs.size()),
      outputs_(program_.outputs.size()),
      interpreter_(protected_, state_) {
  std::set<int> weights{kNoSlot};
  for (const ProgramWeight& weight : program_.weights) {
    weights.insert(weight.slot);
  }
  const auto let_go = [&](int slot) {
    if (!weights.contains(slot)) {
      let_go_.push_back(static_cast<std::size_t>(slot));
    }
  };
  for (const Element& output : program_.graph.outputs) let_go(output.slot);
  for (const ProgramInput& input : program_.inputs) let_go(input.slot);
  clear_values();
}

void Request::set_written_weights() {
  for (const WrittenRecord& record : program_.written) {
    const at::Tensor copy =
        at::empty({static_cast<std::int64_t>(record.bytes.size())},
                  at::TensorOptions().dtype(at::kByte));
    auto* data = copy.mutable_data_ptr<std::uint8_t>();
    std::copy(record.bytes.begin(), record.bytes.end(), data);
    for (const std::size_t index : record.weights) {
      const ProgramWeight& weight = program_.weights[index];
      values_[static_cast<std::size_t>(weight.slot)] =
          weight.stored.over(data, [copy](void*) {});
    }
  }
}

void Request::bind(modelrun_port_kind kind, std::size_t index,
                   const DLTensor* tensor) {
  const modelrun_port& bound = port(kind, index);
  if (kind == MODELRUN_INPUT) {
    if (tensor != nullptr) return bind_input(index, *tensor);
    input_views_[index] = {};
    inputs_[index].reset();
    is_checked_ = false;
    return;
  }
  if (bound.constant != nullptr) {
    throw InvalidArgument("cannot bind '" + std::string(bound.name) +
                          "': it is no tensor but " + bound.constant);
  }
  if (tensor != nullptr) return bind_output(index, *tensor);
  outputs_[index].view = {};
  outputs_[index].bound.reset();
}

void Request::bind_input(std::size_t index, const DLTensor& tensor) {
  plugin::TensorView& view = input_views_[index];
  if (view.holds(tensor)) return;
  const modelrun_port& bound = session_->signature().inputs()[index];
  plugin::TensorView made = checked_view(tensor, bound.name);
  if (!plugin::is_same_dtype(made.dtype, bound.dtype) ||
      made.dims.size() != static_cast<std::size_t>(bound.rank)) {
    const PortSpec& spec = program_.inputs[index].port;
    plugin::refuse_tensor(tensor, bound.name,
                          "expected " + type_name(spec.type) + " of rank " +
                              std::to_string(bound.rank) + " (" +
                              printable(spec.recorded) + ")");
  }
  is_checked_ = false;
  inputs_[index] = tensor_over(made);
  view = std::move(made);
}

void Request::bind_output(std::size_t index, const DLTensor& tensor) {
  Output& output = outputs_[index];
  output.result.reset();
  if (output.view.holds(tensor)) return;
  const modelrun_port& bound = session_->signature().outputs()[index];
  plugin::TensorView made = checked_view(tensor, bound.name);
  if (!plugin::is_same_dtype(made.dtype, bound.dtype)) {
    plugin::refuse_tensor(
        tensor, bound.name,
        "expected " + type_name(program_.outputs[index].port.type));
  }
  output.bound = tensor_over(made);
  output.view = std::move(made);
}

void Request::run() {
  check_bound();
  has_run_ = false;
  for (Output& output : outputs_) output.result.reset();
  const c10::InferenceMode inference;
  const ThreadCount threads(session_->threads());
  const WarningsToHost warnings;
  state_ = RunState::running;
  try {
    if (session_->code() == nullptr) {
      run_graph();
    } else {
      run_compiled();
    }
    own_results();
  } catch (...) {
    state_ = RunState::idle;
    clear_values();
    for (Output& output : outputs_) output.result.reset();
    throw;
  }
  if (state_.exchange(RunState::idle) == RunState::cancelled) {
    for (Output& output : outputs_) output.result.reset();
    throw BackendError("the run was cancelled");
  }
  has_run_ = true;
}

void Request::check_bound() {
  if (is_checked_) return;
  std::string missing;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].defined()) continue;
    missing.append(missing.empty() ? " " : ", ")
        .append(program_.inputs[i].port.name)
        .append(" (")
        .append(printable(program_.inputs[i].port.recorded))
        .append(")");
  }
  if (!missing.empty()) {
    throw InvalidArgument("cannot run: nothing is bound to the inputs" +
                          missing);
  }
  check_inputs(program_, inputs_);
  protected_.clear();
  const auto archive = session_->archive().bytes();
  protected_.add(archive.data(), archive.size());
  for (const plugin::TensorView& view : input_views_) {
    protected_.add(view.data, view.bytes);
  }
  is_checked_ = true;
}

void Request::clear_values() {
  values_.assign(program_.graph.slot_count, {});
  for (const ProgramWeight& weight : program_.weights) {
    values_[static_cast<std::size_t>(weight.slot)] = weight.tensor;
  }
}

void Request::set_inputs() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ProgramInput& input = program_.inputs[i];
    c10::IValue& value = values_[static_cast<std::size_t>(input.slot)];
    if (input.is_number) {
      const at::Scalar number = inputs_[i].item();
      value = c10::IValue(number);
    } else {
      value = input.is_written ? copied(inputs_[i]) : inputs_[i];
    }
  }
  for (const ProgramConstant& constant : program_.constants) {
    values_[static_cast<std::size_t>(constant.slot)] = constant.value;
  }
  set_written_weights();
}

void Request::run_graph() {
  set_inputs();
  interpreter_.run(program_.graph, values_);
  take_results();
}

void Request::run_compiled() {
  std::vector<at::Tensor> given;
  given.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    given.push_back(program_.inputs[i].is_written ? copied(inputs_[i])
                                                  : inputs_[i]);
  }
  auto returned = session_->code()->run(std::move(given));
  if (returned.size() != outputs_.size()) {
    throw BackendError(
        "the compiled code returned " + std::to_string(returned.size()) +
        " outputs, its program has " + std::to_string(outputs_.size()));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const PortSpec& port = program_.outputs[i].port;
    if (program_.outputs[i].constant) continue;
    if (!returned[i].defined() || returned[i].scalar_type() != port.type) {
      throw BackendError("the compiled code returned no tensor of " +
                         type_name(port.type) + " for output '" + port.name +
                         "'");
    }
    outputs_[i].result = std::move(returned[i]);
  }
}

void Request::take_results() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ProgramOutput& output = program_.outputs[i];
    if (output.constant) continue;
    outputs_[i].result =
        tensor_of(value_of(output.element, values_), output.port);
  }
  // What is shared from here on is an input, a weight or another output.
  for (const std::size_t slot : let_go_) values_[slot] = c10::IValue();
}

void Request::own_results() {
  bool has_bound = false;
  for (const Output& output : outputs_) {
    has_bound = has_bound || output.bound.defined();
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.result.defined()) continue;
    // A bound output may be the memory of an input that another one views.
    if ((!output.bound.defined() || has_bound) && is_shared(output.result)) {
      output.result = copied(output.result);
    }
    if (!output.bound.defined() && !output.result.is_contiguous()) {
      output.result = copied(output.result);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.bound.defined() || !output.result.defined()) continue;
    if (output.bound.sizes() != output.result.sizes()) {
      const auto sizes = output.result.sizes();
      throw InvalidArgument(
          "output '" + program_.outputs[i].port.name + "' is bound to " +
          output.view.shown() + ", but the run gives " +
          plugin::shown_tensor(output.view.dtype, sizes.data(), sizes.size()));
    }
    output.bound.copy_(output.result);
    output.result.reset();
  }
}

DLManagedTensorVersioned* Request::fetch(modelrun_port_kind kind,
                                         std::size_t index) {
  const modelrun_port& fetched = port(kind, index);
  const std::string name = fetched.name;
  if (kind != MODELRUN_OUTPUT) {
    throw InvalidArgument("cannot fetch '" + name + "': it is an input");
  }
  if (fetched.constant != nullptr) {
    throw InvalidArgument("cannot fetch '" + name + "': it is no tensor but " +
                          fetched.constant);
  }
  Output& output = outputs_[index];
  if (!has_run_ || !output.result.defined()) {
    const char* reason =
        !has_run_ ? "': there was no run, or the last one failed"
        : output.bound.defined()
            ? "': it is bound, so the run wrote it to the bound memory"
            : "': it was fetched before, or was bound during the run";
    throw InvalidArgument("cannot fetch '" + name + reason);
  }
  return make_fetched_tensor(std::exchange(output.result, {}), fetched.dtype);
}

void Request::cancel() noexcept {
  RunState expected = RunState::running;
  state_.compare_exchange_strong(expected, RunState::cancelled);
}

const modelrun_port& Request::port(modelrun_port_kind kind,
                                   std::size_t index) const {
  if (kind != MODELRUN_INPUT && kind != MODELRUN_OUTPUT) {
    throw InvalidArgument(
        "torch programs have inputs and outputs, and no state of that kind");
  }
  const bool is_input = kind == MODELRUN_INPUT;
  const auto& ports = is_input ? session_->signature().inputs()
                               : session_->signature().outputs();
  if (index >= ports.size()) {
    throw InvalidArgument(std::string(is_input ? "input " : "output ") +
                          std::to_string(index) + ": the program has " +
                          std::to_string(ports.size()));
  }
  return ports[index];
}

}  // namespace modelrun::torch
