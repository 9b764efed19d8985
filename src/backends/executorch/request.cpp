// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/request.h"

#include <algorithm>
#include <cstdint>

#include "backends/executorch/api.h"
#include "backends/executorch/error_words.h"

namespace modelrun::executorch {
namespace {

/// More inputs than this make an error message hard to read.
constexpr std::size_t kShownInputs = 16;

}  // namespace

Request::Request(std::shared_ptr<const Session> session)
    : session_(std::move(session)) {
  const Signature& signature = session_->signature();
  for (std::size_t i = 0; i < signature.inputs().size(); ++i) {
    inputs_.emplace_back(signature.inputs()[i], signature.input_facts()[i]);
  }
  for (std::size_t i = 0; i < signature.outputs().size(); ++i) {
    outputs_.emplace_back(signature.outputs()[i], signature.output_facts()[i]);
  }
  LogCapture log;
  prepare_method(log);
}

void Request::prepare_method(LogCapture& log) {
  method_ = session_->make_method();
  for (InputSlot& input : inputs_) input.forget();
  for (OutputSlot& output : outputs_) output.provide_memory(*method_, log);
}

void Request::bind(modelrun_port_kind kind, std::size_t index,
                   const DLTensor* tensor) {
  const modelrun_port& target = port(kind, index);
  const auto apply = [&](auto& slot) {
    if (tensor == nullptr) return slot.clear();
    slot.bind(*tensor);
  };
  if (kind == MODELRUN_INPUT) return apply(inputs_[index]);
  if (target.constant != nullptr && tensor != nullptr) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot bind to '" + std::string(target.name) +
                      "': it is the constant " + target.constant);
  }
  apply(outputs_[index]);
}

void Request::run() {
  check_inputs();
  drop_results();
  LogCapture log;
  if (method_ == nullptr) prepare_method(log);
  try {
    run_method(log);
  } catch (const Aborted&) {
    // It was left in the middle of what it did.
    method_.reset();
    throw;
  }
  own_results();
  has_run_ = true;
}

void Request::run_method(LogCapture& log) {
  const auto scope = session_->use_threads();
  method_->reset_state();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].give_to(*method_, is_in_place(i), log);
  }
  const et::Error error = method_->handle().execute();
  if (error != et::Error::Ok)
    fail(error, "running with " + shown_inputs(), log);
}

void Request::own_results() {
  // Copies first: what is written to bound memory may be what another output
  // lies in.
  for (OutputSlot& output : outputs_) {
    if (output.is_bound()) continue;
    const void* data = output.address(*method_);
    if (data != nullptr && is_borrowed(data)) {
      output.kept = output.copied(*method_);
    }
  }
  for (OutputSlot& output : outputs_) output.write_bound(*method_);
}

DLManagedTensorVersioned* Request::fetch(modelrun_port_kind kind,
                                         std::size_t index) {
  const modelrun_port& source = port(kind, index);
  const auto refuse = [&](const char* reason) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "cannot fetch '" + std::string(source.name) + reason);
  };
  if (kind != MODELRUN_OUTPUT) refuse("': it is an input");
  if (source.constant != nullptr) refuse("': it is a constant");
  if (!has_run_) refuse("': there was no run, or the last one failed");
  OutputSlot& output = outputs_[index];
  if (output.is_bound()) {
    refuse("': it is bound, so the run wrote it to the bound memory");
  }
  if (output.is_fetched) refuse("': it was fetched before");
  OwnedTensor tensor =
      output.kept != nullptr ? std::move(output.kept) : output.copied(*method_);
  output.is_fetched = true;
  return tensor.release();
}

const modelrun_port& Request::port(modelrun_port_kind kind,
                                   std::size_t index) const {
  const Signature& signature = session_->signature();
  if (kind != MODELRUN_INPUT && kind != MODELRUN_OUTPUT) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "executorch programs have inputs and outputs, and no state");
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
  std::string missing;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_bound()) continue;
    missing.append(missing.empty() ? " " : ", ")
        .append(session_->signature().inputs()[i].name);
  }
  if (missing.empty()) return;
  throw Failure(MODELRUN_INVALID_ARGUMENT,
                "cannot run: nothing is bound to the inputs" + missing);
}

bool Request::is_in_place(std::size_t input) const noexcept {
  const auto output = session_->signature().input_facts()[input].same_as;
  if (output == PortFacts::kNone) return false;
  const auto& to = outputs_[output].view();
  const auto& from = inputs_[input].view();
  return to.data == from.data && to.bytes == from.bytes;
}

void Request::drop_results() noexcept {
  has_run_ = false;
  for (OutputSlot& output : outputs_) {
    output.kept.reset();
    output.is_fetched = false;
  }
}

bool Request::is_borrowed(const void* data) const noexcept {
  const auto covers = [&](const auto& slot) {
    const auto offset = reinterpret_cast<std::uintptr_t>(data) -
                        reinterpret_cast<std::uintptr_t>(slot.view().data);
    return slot.is_bound() && offset < slot.view().bytes;
  };
  return std::any_of(inputs_.begin(), inputs_.end(), covers) ||
         std::any_of(outputs_.begin(), outputs_.end(), covers);
}

std::string Request::shown_inputs() const {
  std::string text;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (i == kShownInputs) return text + ", ...";
    text.append(i == 0 ? "" : ", ")
        .append(session_->signature().inputs()[i].name)
        .append(" ")
        .append(inputs_[i].view().shown());
  }
  return text.empty() ? "no inputs" : text;
}

}  // namespace modelrun::executorch
