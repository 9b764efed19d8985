// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/request.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "backends/common/owned_tensor.h"
#include "backends/openvino/element_type.h"
#include "backends/openvino/narrow_integers.h"
#include "backends/openvino/result.h"

namespace modelrun::openvino {
namespace {

/// More inputs than this make an error message hard to read.
constexpr std::size_t kShownInputs = 16;

bool is_shape(const ov::Shape& shape, const std::vector<std::int64_t>& dims) {
  return std::equal(shape.begin(), shape.end(), dims.begin(), dims.end(),
                    [](std::size_t a, std::int64_t b) {
                      return a == static_cast<std::size_t>(b);
                    });
}

/// A tensor of the runtime's own, which it resizes as it needs.
ov::Tensor own_tensor(const Port& port) {
  const ov::PartialShape& partial = port.get_partial_shape();
  ov::Shape shape(partial.rank().is_static() ? partial.size() : 1, 0);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (partial.rank().is_static() && partial[axis].is_static()) {
      shape[axis] = static_cast<std::size_t>(partial[axis].get_length());
    }
  }
  return {port.get_element_type(), shape};
}

template <typename T>
void fill_identity(ov::Tensor& tensor) {
  T* rows = tensor.data<T>();
  std::iota(rows, rows + tensor.get_size(), T{0});
}

}  // namespace

Request::Request(std::shared_ptr<const Session> session)
    : session_(std::move(session)) {
  const Signature& signature = session_->signature();
  inputs_.resize(signature.inputs().size());
  outputs_.resize(signature.outputs().size());
  move_to(session_->program());
  if (signature.states().empty()) return;
  const auto found = variables();
  const auto& beam = session_->beam_index();
  for (std::size_t i = 0; i < signature.states().size(); ++i) {
    const std::string& id = signature.variable_ids()[i];
    std::optional<std::size_t> axis;
    if (beam && beam->batch_axes.contains(id)) axis = beam->batch_axes.at(id);
    const modelrun_port& port = signature.states()[i];
    const bool is_narrow =
        session_->narrows_integers() && is_narrowed(*to_openvino(port.dtype));
    states_.emplace_back(found.at(id), port, axis, is_narrow);
  }
}

std::map<std::string, ov::VariableState> Request::variables() {
  std::map<std::string, ov::VariableState> variables;
  for (auto& variable : request_.query_state()) {
    variables.emplace(variable.get_name(), variable);
  }
  for (const std::string& id : session_->signature().variable_ids()) {
    if (!variables.contains(id)) {
      throw Failure(MODELRUN_BACKEND_ERROR,
                    "OpenVINO has no state for the variable '" + id + "'");
    }
  }
  return variables;
}

void Request::move_to(std::shared_ptr<Program> program) {
  call(MODELRUN_BACKEND_ERROR, "making a request", [&] {
    request_ = program->compiled.create_infer_request();
    program_ = std::move(program);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].is_bound()) {
        request_.set_tensor(program_->inputs[i], inputs_[i].tensor());
      } else {
        inputs_[i].forget();
      }
    }
    for (Output& output : outputs_) output.target = Target::runtime;
    beam_size_ = -1;
    if (states_.empty()) return;
    const auto found = variables();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].move_to(found.at(session_->signature().variable_ids()[i]));
    }
  });
}

std::unique_lock<std::mutex> Request::begin_run() {
  if (!session_->is_damaged_by_failure()) return {};
  while (true) {
    std::unique_lock lock(program_->running);
    if (!program_->is_damaged) return lock;
    lock.unlock();
    move_to(session_->program());
  }
}

void Request::bind(modelrun_port_kind kind, std::size_t index,
                   const DLTensor* tensor) {
  (void)port(kind, index);
  switch (kind) {
    case MODELRUN_INPUT:
      if (tensor == nullptr) return inputs_[index].clear();
      return bind_input(index, *tensor);
    case MODELRUN_OUTPUT:
      return bind_output(index, tensor);
    default:
      if (tensor == nullptr) return states_[index].reset();
      return states_[index].set(*tensor);
  }
}

void Request::bind_input(std::size_t index, const DLTensor& tensor) {
  Binding& binding = inputs_[index];
  const modelrun_port& port = session_->signature().inputs()[index];
  if (!binding.bind(tensor, port)) return;
  try {
    call(MODELRUN_INVALID_ARGUMENT,
         "binding " + binding.view().shown() + " to '" + port.name + "'", [&] {
           request_.set_tensor(program_->inputs[index], binding.tensor());
         });
  } catch (...) {
    binding.forget();
    throw;
  }
}

void Request::bind_output(std::size_t index, const DLTensor* tensor) {
  Output& output = outputs_[index];
  if (tensor == nullptr) return output.binding.clear();
  const modelrun_port& port = session_->signature().outputs()[index];
  if (output.binding.bind(*tensor, port)) output.is_current = false;
  output.is_fetched = true;
}

void Request::run() {
  check_inputs();
  has_run_ = false;
  const std::unique_lock lock = begin_run();
  aim_outputs();
  set_beam_index();
  infer();
  for (State& state : states_) state.keep(beam_size_);
  finish_outputs();
  has_run_ = true;
}

DLManagedTensorVersioned* Request::fetch(modelrun_port_kind kind,
                                         std::size_t index) {
  const char* name = port(kind, index).name;
  if (kind == MODELRUN_STATE) return states_[index].fetch();
  if (kind == MODELRUN_INPUT) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot fetch '" + std::string(name) + "': it is an input");
  }
  Output& output = outputs_[index];
  if (!has_run_ || output.is_fetched) {
    const char* reason =
        !has_run_ ? "': there was no run, or the last one failed"
        : output.binding.is_bound()
            ? "': it is bound, so the run wrote it to the bound memory"
            : "': it was fetched before, or was bound during the run";
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot fetch '" + std::string(name) + reason);
  }
  DLManagedTensorVersioned* tensor = output.passed.release();
  if (tensor == nullptr) {
    tensor = call(MODELRUN_BACKEND_ERROR, "reading an output", [&] {
      return copied_result(request_.get_tensor(program_->outputs[index]), name);
    });
  }
  output.is_fetched = true;
  return tensor;
}

const modelrun_port& Request::port(modelrun_port_kind kind,
                                   std::size_t index) const {
  const Signature& signature = session_->signature();
  const auto& ports = kind == MODELRUN_INPUT    ? signature.inputs()
                      : kind == MODELRUN_OUTPUT ? signature.outputs()
                                                : signature.states();
  if (index >= ports.size()) {
    const char* word = kind == MODELRUN_INPUT    ? "input "
                       : kind == MODELRUN_OUTPUT ? "output "
                                                 : "state ";
    throw Failure(MODELRUN_INVALID_ARGUMENT, word + std::to_string(index) +
                                                 ": the program has " +
                                                 std::to_string(ports.size()));
  }
  return ports[index];
}

void Request::check_inputs() const {
  std::string missing;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_bound()) continue;
    missing.append(missing.empty() ? " " : ", ")
        .append(session_->signature().inputs()[i].name);
  }
  if (!missing.empty()) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot run: nothing is bound to the inputs" + missing);
  }
  for (const std::size_t i : session_->narrowed_inputs()) {
    check_narrow(inputs_[i].view(), session_->signature().inputs()[i].name);
  }
}

void Request::aim_outputs() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Binding& binding = outputs_[i].binding;
    outputs_[i].is_fetched = binding.is_bound();
    if (session_->passed_inputs().of_output(i)) continue;
    // Kernels would read an input that they have overwritten: such an output
    // is copied there after the run.
    const bool direct = binding.is_bound() && !is_input_memory(binding.view());
    aim(i, direct ? Target::caller : Target::runtime);
  }
}

void Request::aim(std::size_t index, Target target) {
  Output& output = outputs_[index];
  const bool is_aimed = output.target == target &&
                        (target == Target::runtime || output.is_current);
  if (is_aimed) return;
  const Port& port = program_->outputs[index];
  call(MODELRUN_INVALID_ARGUMENT,
       "binding the output '" +
           std::string(session_->signature().outputs()[index].name) + "'",
       [&] {
         request_.set_tensor(port, target == Target::caller
                                       ? output.binding.tensor()
                                       : own_tensor(port));
       });
  output.target = target;
  output.is_current = target == Target::caller;
}

bool Request::is_input_memory(const plugin::TensorView& view) const {
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Binding& input) {
    return input.is_bound() && input.view().overlaps(view);
  });
}

void Request::set_beam_index() {
  const auto& beam = session_->beam_index();
  if (!beam) return;
  const std::int64_t size = batch();
  if (size == beam_size_) return;
  call(MODELRUN_BACKEND_ERROR, "setting beam_idx", [&] {
    ov::Tensor rows(beam->type, {static_cast<std::size_t>(size)});
    if (beam->type == ov::element::i64) {
      fill_identity<std::int64_t>(rows);
    } else {
      fill_identity<std::int32_t>(rows);
    }
    request_.set_tensor(program_->beam, rows);
  });
  beam_size_ = size;
}

std::int64_t Request::batch() const {
  const State* first = nullptr;
  for (const State& state : states_) {
    if (!state.batch()) continue;
    if (first == nullptr) first = &state;
    if (state.batch() != first->batch()) {
      throw Failure(MODELRUN_INVALID_ARGUMENT,
                    "cannot run: the state '" + std::string(first->name()) +
                        "' holds " + std::to_string(*first->batch()) +
                        " rows, and '" + state.name() + "' " +
                        std::to_string(*state.batch()));
    }
  }
  if (first != nullptr) return *first->batch();
  const BeamIndex& beam = *session_->beam_index();
  if (beam.fixed_batch) return *beam.fixed_batch;
  if (beam.batch_input >= inputs_.size()) return 1;
  const auto& dims = inputs_[beam.batch_input].view().dims;
  return beam.batch_axis < dims.size() ? dims[beam.batch_axis] : 1;
}

void Request::infer() {
  cancellation_.begin_run();
  std::string problem;
  try {
    request_.infer();
  } catch (const std::exception& exception) {
    program_->is_damaged = session_->is_damaged_by_failure();
    problem =
        "OpenVINO, running with " + shown_inputs() + ": " + words_of(exception);
  }
  const bool is_cancelled = cancellation_.end_run();
  if (!problem.empty()) throw Failure(MODELRUN_BACKEND_ERROR, problem);
  if (is_cancelled) {
    throw Failure(MODELRUN_BACKEND_ERROR, "the run was cancelled");
  }
}

// Before the other outputs, which may be bound to the memory of the input.
void Request::pass_inputs() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto input = session_->passed_inputs().of_output(i);
    if (input) pass(*input, i);
  }
}

void Request::pass(std::size_t input, std::size_t output) {
  const plugin::TensorView& from = inputs_[input].view();
  Output& to = outputs_[output];
  to.passed.reset();
  void* data = nullptr;
  if (to.binding.is_bound()) {
    const plugin::TensorView& view = to.binding.view();
    if (view.dims != from.dims) {
      refuse_shape(output, {from.dims.begin(), from.dims.end()});
    }
    data = view.data;
  } else {
    to.passed.reset(plugin::make_owned_tensor(from.dtype, from.dims));
    data = to.passed->dl_tensor.data;
  }
  if (from.bytes != 0) std::memmove(data, from.data, from.bytes);
}

void Request::finish_outputs() {
  pass_inputs();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    const bool is_passed = session_->passed_inputs().of_output(i).has_value();
    if (is_passed || !output.binding.is_bound()) continue;
    const plugin::TensorView& view = output.binding.view();
    if (output.target == Target::caller) {
      const ov::Shape& shape = output.binding.tensor().get_shape();
      if (!is_shape(shape, view.dims)) refuse_shape(i, shape);
      continue;
    }
    const ov::Tensor result = request_.get_tensor(program_->outputs[i]);
    if (!is_shape(result.get_shape(), view.dims)) {
      refuse_shape(i, result.get_shape());
    }
    if (view.bytes != 0) std::memcpy(view.data, result.data(), view.bytes);
  }
}

void Request::refuse_shape(std::size_t index, const ov::Shape& shape) {
  Output& output = outputs_[index];
  const std::string bound = output.binding.view().shown();
  const std::vector<std::int64_t> dims(shape.begin(), shape.end());
  const std::string made = plugin::shown_tensor(output.binding.view().dtype,
                                                dims.data(), dims.size());
  output.binding.forget();
  if (!session_->passed_inputs().of_output(index)) aim(index, Target::runtime);
  throw Failure(MODELRUN_INVALID_ARGUMENT,
                "output '" +
                    std::string(session_->signature().outputs()[index].name) +
                    "' is bound to " + bound + ", but the run's is " + made +
                    ": bind a tensor of that shape, or none");
}

std::string Request::shown_inputs() const {
  std::string text;
  const std::size_t count = std::min(inputs_.size(), kShownInputs);
  for (std::size_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "" : ", ")
        .append(session_->signature().inputs()[i].name)
        .append(" ")
        .append(inputs_[i].view().shown());
  }
  if (count < inputs_.size()) {
    text += " and " + std::to_string(inputs_.size() - count) + " more";
  }
  return inputs_.empty() ? "no inputs" : text;
}

}  // namespace modelrun::openvino
