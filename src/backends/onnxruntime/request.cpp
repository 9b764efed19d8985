// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/request.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/onnxruntime/fetched_tensor.h"

namespace modelrun::onnxruntime {
namespace {

/// More inputs than this make an error message hard to read.
constexpr std::size_t kShownInputs = 16;

}  // namespace

Request::Request(std::shared_ptr<const Session> session)
    : session_(std::move(session)),
      runtime_(*session_->runtime()),
      cancellation_(runtime_) {
  const Signature& signature = session_->signature();
  const auto release = runtime_.api().ReleaseValue;
  for (std::size_t i = 0; i < signature.inputs().size(); ++i) {
    inputs_.emplace_back(runtime_);
  }
  for (std::size_t i = 0; i < signature.outputs().size(); ++i) {
    outputs_.push_back({Binding(runtime_), {nullptr, release}});
  }
  input_values_.resize(inputs_.size());
  output_values_.resize(outputs_.size());
}

void Request::bind(modelrun_port_kind kind, std::size_t index,
                   const DLTensor* tensor) {
  const char* name = port(kind, index).name;
  Binding& binding =
      kind == MODELRUN_INPUT ? inputs_[index] : outputs_[index].binding;
  if (tensor == nullptr) {
    binding.clear();
  } else {
    binding.bind(*tensor, name);
  }
  if (kind == MODELRUN_INPUT) {
    input_values_[index] = binding.value();
  } else if (tensor != nullptr) {
    outputs_[index].result.reset();
  }
}

void Request::run() {
  check_inputs();
  drop_results();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    output_values_[i] = outputs_[i].binding.value();
  }
  run_session();
  own_results();
  has_run_ = true;
}

DLManagedTensorVersioned* Request::fetch(modelrun_port_kind kind,
                                         std::size_t index) {
  const char* name = port(kind, index).name;
  if (kind != MODELRUN_OUTPUT) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot fetch '" + std::string(name) + "': it is an input");
  }
  Output& output = outputs_[index];
  if (!has_run_ || output.result == nullptr) {
    const char* reason =
        !has_run_ ? "': there was no run, or the last one failed"
        : output.binding.value() != nullptr
            ? "': it is bound, so the run wrote it to the bound memory"
            : "': it was fetched before, or was bound during the run";
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot fetch '" + std::string(name) + reason);
  }
  return make_fetched_tensor(session_->runtime(), std::move(output.result));
}

const modelrun_port& Request::port(modelrun_port_kind kind,
                                   std::size_t index) const {
  const Signature& signature = session_->signature();
  if (kind != MODELRUN_INPUT && kind != MODELRUN_OUTPUT) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "onnxruntime programs have inputs and outputs, and no state");
  }
  const bool is_input = kind == MODELRUN_INPUT;
  const auto& ports = is_input ? signature.inputs() : signature.outputs();
  if (index >= ports.size()) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  std::string(is_input ? "input " : "output ") +
                      std::to_string(index) + ": the program has " +
                      std::to_string(ports.size()));
  }
  return ports[index];
}

void Request::check_inputs() const {
  if (std::find(input_values_.begin(), input_values_.end(), nullptr) ==
      input_values_.end()) {
    return;
  }
  std::string message = "cannot run: nothing is bound to the inputs";
  const char* separator = " ";
  for (std::size_t i = 0; i < input_values_.size(); ++i) {
    if (input_values_[i] != nullptr) continue;
    message.append(separator).append(session_->input_names()[i]);
    separator = ", ";
  }
  throw Failure(MODELRUN_INVALID_ARGUMENT, std::move(message));
}

void Request::run_session() {
  cancellation_.begin_run();
  OrtStatus* status = runtime_.api().Run(
      session_->handle(), cancellation_.run_options(), session_->input_names(),
      input_values_.data(), input_values_.size(), session_->output_names(),
      output_values_.size(), output_values_.data());
  keep_results();
  const bool cancelled = cancellation_.end_run();
  if (status == nullptr && !cancelled) return;
  drop_results();
  if (cancelled) {
    runtime_.api().ReleaseStatus(status);
    throw Failure(MODELRUN_BACKEND_ERROR, "the run was cancelled");
  }
  runtime_.check(status, "running with " + shown_inputs());
}

void Request::keep_results() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].binding.value() == nullptr) {
      outputs_[i].result.reset(output_values_[i]);
    }
  }
}

void Request::own_results() {
  for (Output& output : outputs_) {
    if (output.result == nullptr) continue;
    void* data = nullptr;
    runtime_.check(
        runtime_.api().GetTensorMutableData(output.result.get(), &data),
        "reading an output's data");
    // It would change, or go, with the caller's memory.
    if (is_borrowed(data)) output.result = copied(output.result.get(), data);
  }
  // The runtime leaves a bound output alone that is an input.
  for (const auto& [output, input] : session_->passed_through()) {
    const Binding& target = outputs_[output].binding;
    if (target.value() == nullptr) continue;
    target.copy_from(inputs_[input], session_->output_names()[output]);
  }
}

void Request::drop_results() noexcept {
  has_run_ = false;
  for (Output& output : outputs_) output.result.reset();
}

bool Request::is_borrowed(const void* data) const noexcept {
  for (const Binding& input : inputs_) {
    if (input.covers(data)) return true;
  }
  for (const Output& output : outputs_) {
    if (output.binding.covers(data)) return true;
  }
  return false;
}

Handle<OrtValue> Request::copied(const OrtValue* value, void* data) const {
  const OrtApi& api = runtime_.api();
  OrtTensorTypeAndShapeInfo* raw = nullptr;
  runtime_.check(api.GetTensorTypeAndShape(value, &raw),
                 "reading an output's shape");
  const Handle<OrtTensorTypeAndShapeInfo> info(
      raw, api.ReleaseTensorTypeAndShapeInfo);
  std::size_t rank = 0;
  runtime_.check(api.GetDimensionsCount(raw, &rank), "reading its rank");
  std::vector<std::int64_t> dims(rank);
  runtime_.check(api.GetDimensions(raw, dims.data(), rank),
                 "reading its shape");
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  runtime_.check(api.GetTensorElementType(raw, &element), "reading its type");
  std::size_t bytes = 0;
  runtime_.check(api.GetTensorSizeInBytes(value, &bytes), "reading its size");

  OrtValue* made = nullptr;
  runtime_.check(api.CreateTensorAsOrtValue(runtime_.cpu_allocator(),
                                            dims.data(), rank, element, &made),
                 "allocating an output");
  Handle<OrtValue> copy(made, api.ReleaseValue);
  void* target = nullptr;
  runtime_.check(api.GetTensorMutableData(made, &target),
                 "reading an output's data");
  std::memcpy(target, data, bytes);
  return copy;
}

std::string Request::shown_inputs() const {
  std::string text;
  const std::size_t count = std::min(inputs_.size(), kShownInputs);
  for (std::size_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "" : ", ").append(session_->input_names()[i]);
    text.append(" ").append(inputs_[i].shown());
  }
  if (count < inputs_.size()) {
    text += " and " + std::to_string(inputs_.size() - count) + " more";
  }
  return inputs_.empty() ? "no inputs" : text;
}

}  // namespace modelrun::onnxruntime
