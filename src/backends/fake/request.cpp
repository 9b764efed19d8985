// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "backends/common/failure.h"
#include "element.h"

namespace modelrun::fake {

namespace {

constexpr std::size_t kAlignment = 64;

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

/// A tensor in one block: the struct, its shape and then its elements.
DLManagedTensorVersioned* make_tensor(Array& from) {
  const std::size_t rank = from.shape.size();
  const std::size_t head = (sizeof(DLManagedTensorVersioned) +
                            rank * sizeof(std::int64_t) + kAlignment - 1) /
                           kAlignment * kAlignment;
  const std::size_t bytes = from.bytes();
  const std::size_t total = (head + bytes + kAlignment) / kAlignment;
  void* block = std::aligned_alloc(kAlignment, total * kAlignment);
  if (block == nullptr) throw std::bad_alloc();
  auto* tensor = new (block) DLManagedTensorVersioned{};
  auto* shape = reinterpret_cast<std::int64_t*>(tensor + 1);
  std::copy(from.shape.begin(), from.shape.end(), shape);
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->deleter = [](DLManagedTensorVersioned* self) { std::free(self); };
  DLTensor& view = tensor->dl_tensor;
  view.data = static_cast<std::byte*>(block) + head;
  view.device = {kDLCPU, 0};
  view.ndim = static_cast<std::int32_t>(rank);
  view.dtype = from.dtype;
  view.shape = shape;
  if (bytes > 0) std::memcpy(view.data, from.data(), bytes);
  return tensor;
}

const char* kind_name(modelrun_port_kind kind) noexcept {
  if (kind == MODELRUN_INPUT) return "input";
  return kind == MODELRUN_OUTPUT ? "output" : "state";
}

void reset(Array& state) {
  state.shape.clear();
  state.own.clear();
  state.defined = false;
}

void store(Array& array, const std::vector<std::int64_t>& shape,
           const void* data, std::size_t bytes) {
  array.defined = true;
  array.shape = shape;
  array.own.resize(bytes);
  if (bytes > 0) std::memmove(array.own.data(), data, bytes);
}

}  // namespace

std::size_t Array::bytes() const {
  return byte_size(dtype, element_count(shape));
}

void fail_if_scripted(const Script& script, std::atomic<int>& failures,
                      const char* at) {
  const ScriptFailure& failure = script.failure;
  if (failure.at != at) return;
  if (failure.times >= 0 && failures.fetch_add(1) >= failure.times) return;
  throw plugin::Failure(failure.status, failure.message);
}

Request::Request(const Script& script, Counts& counts,
                 std::atomic<int>& failures)
    : script_(script),
      counts_(counts),
      failures_(failures),
      inputs_(script.inputs.size()),
      outputs_(script.outputs.size()),
      states_(script.states.size()),
      fresh_(script.outputs.size()) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].dtype = script.states[i].dtype;
  }
}

Array& Request::port(modelrun_port_kind kind, std::size_t index) {
  auto& all = kind == MODELRUN_INPUT    ? inputs_
              : kind == MODELRUN_OUTPUT ? outputs_
                                        : states_;
  if (index >= all.size()) {
    throw plugin::Failure(
        MODELRUN_INVALID_ARGUMENT,
        std::string(kind_name(kind)) + ' ' + std::to_string(index) +
            " is not there: the program has " + std::to_string(all.size()));
  }
  return all[index];
}

void Request::bind(modelrun_port_kind kind, std::size_t index,
                   const DLTensor* tensor) {
  counts_.binds++;
  fail_if_scripted(script_, failures_, "bind");
  Array& to = port(kind, index);
  if (tensor == nullptr) {
    to.bound = nullptr;
    return reset(to);
  }
  if (tensor->device.device_type != kDLCPU) {
    throw plugin::Failure(MODELRUN_UNSUPPORTED,
                          "the fake backend has the device cpu only");
  }
  to.dtype = tensor->dtype;
  to.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
  void* data = static_cast<std::byte*>(tensor->data) + tensor->byte_offset;
  if (kind == MODELRUN_STATE) return store(to, to.shape, data, to.bytes());
  to.defined = true;
  to.bound = data;
}

void Request::wait() {
  std::unique_lock lock(mutex_);
  running_ = true;
  cancelled_ = false;
  if (script_.wait_for_cancel) {
    cancelled_changed_.wait(lock, [this] { return cancelled_; });
  } else if (script_.delay.count() > 0) {
    cancelled_changed_.wait_for(lock, script_.delay,
                                [this] { return cancelled_; });
  }
  running_ = false;
  if (cancelled_)
    throw plugin::Failure(MODELRUN_BACKEND_ERROR, "the run was cancelled");
}

void Request::cancel() {
  counts_.cancels++;
  const std::lock_guard lock(mutex_);
  if (!running_) return;
  cancelled_ = true;
  cancelled_changed_.notify_all();
}

void Request::run() {
  counts_.runs++;
  std::fill(fresh_.begin(), fresh_.end(), 0);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].defined) {
      throw plugin::Failure(
          MODELRUN_INVALID_ARGUMENT,
          "input '" + script_.inputs[i].name + "' is not bound");
    }
  }
  wait();
  fail_if_scripted(script_, failures_, "run");
  for (std::size_t i = 0; i < states_.size(); ++i) advance_state(i);
  for (std::size_t i = 0; i < outputs_.size(); ++i) compute(i);
}

void Request::shape_from(const Source& source,
                         std::vector<std::int64_t>& shape) {
  shape.clear();
  for (const Source::Size& size : source.sizes) {
    if (size.input < 0) {
      shape.push_back(size.fixed);
      continue;
    }
    const auto& from = inputs_[static_cast<std::size_t>(size.input)].shape;
    if (size.axis >= from.size()) {
      throw plugin::Failure(MODELRUN_INVALID_ARGUMENT,
                            "an input has too few dimensions");
    }
    shape.push_back(from[size.axis]);
  }
}

void Request::compute(std::size_t index) {
  const Source& source = script_.output_sources[index];
  const DLDataType dtype = script_.outputs[index].dtype;
  using Kind = Source::Kind;
  if (source.kind == Kind::input || source.kind == Kind::state) {
    Array& from =
        source.kind == Kind::input ? inputs_[source.a] : states_[source.a];
    shape_ = from.shape;
    return write_output(index, from.data(), from.bytes());
  }
  if (source.kind == Kind::sum) {
    Array& a = inputs_[source.a];
    Array& b = inputs_[source.b];
    if (a.shape != b.shape || !same(a.dtype, dtype) || !same(b.dtype, dtype)) {
      throw plugin::Failure(MODELRUN_INVALID_ARGUMENT,
                            "the terms of output '" +
                                script_.outputs[index].name +
                                "' differ in shape or dtype");
    }
    shape_ = a.shape;
    scratch_.resize(a.bytes());
    add(dtype, a.data(), b.data(), scratch_.data(),
        static_cast<std::size_t>(element_count(shape_)));
    return write_output(index, scratch_.data(), scratch_.size());
  }
  shape_from(source, shape_);
  if (source.kind == Kind::values) {
    return write_output(index, source.bytes.data(), source.bytes.size());
  }
  scratch_.assign(byte_size(dtype, element_count(shape_)), std::byte{0});
  const std::size_t width = source.bytes.size();
  for (std::size_t at = 0; width > 0 && at < scratch_.size(); at += width) {
    std::memcpy(scratch_.data() + at, source.bytes.data(), width);
  }
  write_output(index, scratch_.data(), scratch_.size());
}

/// Writes to the bound memory, or keeps it for `fetch`; the shape is `shape_`.
void Request::write_output(std::size_t index, const void* data,
                           std::size_t bytes) {
  const DLDataType dtype = script_.outputs[index].dtype;
  if (bytes != byte_size(dtype, element_count(shape_))) {
    throw plugin::Failure(MODELRUN_INVALID_ARGUMENT,
                          "output '" + script_.outputs[index].name +
                              "' comes from a tensor of another "
                              "dtype than the program says");
  }
  Array& output = outputs_[index];
  if (output.bound == nullptr && !output.defined) {
    output.dtype = dtype;
    store(output, shape_, data, bytes);
    output.defined = false;
    fresh_[index] = 1;
    return;
  }
  if (output.shape != shape_ || output.bytes() != bytes) {
    throw plugin::Failure(
        MODELRUN_INVALID_ARGUMENT,
        "output '" + script_.outputs[index].name +
            "' is bound to memory of another shape than it has");
  }
  if (bytes > 0) std::memmove(output.bound, data, bytes);
}

void Request::advance_state(std::size_t index) {
  const Source& source = script_.state_sources[index];
  Array& state = states_[index];
  if (source.kind == Source::Kind::nothing) return;
  Array& from = inputs_[source.a];
  if (source.kind == Source::Kind::append && state.defined) {
    return append(state, from, source.axis);
  }
  state.dtype = from.dtype;
  store(state, from.shape, from.data(), from.bytes());
}

void Request::append(Array& state, Array& more, std::size_t axis) {
  bool fits =
      state.shape.size() == more.shape.size() && axis < state.shape.size();
  std::size_t outer = 1;
  for (std::size_t i = 0; fits && i < state.shape.size(); ++i) {
    fits = i == axis || state.shape[i] == more.shape[i];
    if (i < axis) outer *= static_cast<std::size_t>(state.shape[i]);
  }
  if (!fits || !same(state.dtype, more.dtype)) {
    throw plugin::Failure(MODELRUN_INVALID_ARGUMENT,
                          "an input does not fit the state that it "
                          "is appended to");
  }
  const std::size_t total = state.bytes() + more.bytes();
  scratch_.resize(total);
  std::byte* to = scratch_.data();
  for (std::size_t i = 0; i < outer; ++i) {
    for (Array* part : {&state, &more}) {
      const std::size_t step = part->bytes() / outer;
      const auto* data = static_cast<const std::byte*>(part->data());
      if (step > 0) std::memcpy(to, data + i * step, step);
      to += step;
    }
  }
  shape_ = state.shape;
  shape_[axis] += more.shape[axis];
  store(state, shape_, scratch_.data(), total);
}

DLManagedTensorVersioned* Request::fetch(modelrun_port_kind kind,
                                         std::size_t index) {
  counts_.fetches++;
  fail_if_scripted(script_, failures_, "fetch");
  Array& from = port(kind, index);
  if (kind == MODELRUN_STATE) {
    if (!from.defined) {
      throw plugin::Failure(
          MODELRUN_INVALID_ARGUMENT,
          "state '" + script_.states[index].name + "' has no value yet");
    }
    return make_tensor(from);
  }
  if (kind != MODELRUN_OUTPUT || fresh_[index] == 0) {
    throw plugin::Failure(
        MODELRUN_INVALID_ARGUMENT,
        std::string(kind_name(kind)) + ' ' + std::to_string(index) +
            " has nothing to fetch: it is bound, was fetched already, or no "
            "run wrote it");
  }
  fresh_[index] = 0;
  return make_tensor(from);
}

}  // namespace modelrun::fake
