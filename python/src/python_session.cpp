// SPDX-License-Identifier: Apache-2.0
#include "python_session.h"

#include <cstring>
#include <span>

#include "errors.h"
#include "tensor_input.h"

namespace modelrun::python {
namespace {

DLDataType dlpack_dtype(DType dtype) {
  DLManagedTensor* managed = Tensor::empty(dtype, {0}).to_dlpack_unversioned();
  const DLDataType found = managed->dl_tensor.dtype;
  managed->deleter(managed);
  return found;
}

}  // namespace

RunnerSignature::RunnerSignature(nb::handle runner)
    : inputs_(read_ports(nb::object(runner.attr("inputs")))),
      outputs_(read_ports(nb::object(runner.attr("outputs")))) {
  signature_.struct_size = sizeof signature_;
  signature_.port_size = sizeof(modelrun_port);
  signature_.input_count = inputs_.size();
  signature_.inputs = inputs_.data();
  signature_.output_count = outputs_.size();
  signature_.outputs = outputs_.data();
}

std::vector<modelrun_port> RunnerSignature::read_ports(nb::handle ports) {
  std::vector<modelrun_port> read;
  for (const nb::handle port : ports) read.push_back(read_port(port));
  return read;
}

modelrun_port RunnerSignature::read_port(nb::handle port) {
  const nb::tuple parts{nb::object(nb::borrow(port))};
  if (nb::len(parts) != 3) {
    throw InvalidArgument("a port is " + std::string(nb::repr(port).c_str()) +
                          ", expected (name, dtype, shape)");
  }
  const std::string& name = texts_.emplace_back(str_of(parts[0]));
  const auto dtype = dtype_from_name(str_of(parts[1]));
  if (!dtype) {
    throw InvalidArgument("port '" + name + "' has the dtype '" +
                          str_of(parts[1]) +
                          "', expected one such as 'float32'");
  }
  std::vector<std::int64_t>& dims = dims_.emplace_back();
  std::vector<const char*>& symbols = symbols_.emplace_back();
  for (const nb::handle size : nb::object(parts[2])) {
    const bool is_text = PyUnicode_Check(size.ptr()) != 0;
    const bool is_open = size.is_none() || is_text;
    dims.push_back(is_open ? -1 : nb::cast<std::int64_t>(size));
    symbols.push_back(is_text ? texts_.emplace_back(str_of(size)).c_str()
                              : nullptr);
  }
  modelrun_port made{};
  made.name = name.c_str();
  made.dtype = dlpack_dtype(*dtype);
  made.rank = static_cast<std::int32_t>(dims.size());
  made.dims = dims.data();
  made.symbols = symbols.data();
  return made;
}

BoundMemory::BoundMemory(const DLTensor& tensor) {
  // The library's own: neither versions nor owners.
  DLManagedTensor managed{
      .dl_tensor = tensor, .manager_ctx = nullptr, .deleter = nullptr};
  const Tensor read = Tensor::from_dlpack(&managed);
  view = Tensor::view(read.raw_data(), {.dtype = read.dtype(),
                                        .shape = read.shape(),
                                        .strides = read.strides(),
                                        .device = read.device()});
}

}  // namespace modelrun::python

using modelrun::InvalidArgument;
using modelrun::Tensor;
using modelrun::python::BoundMemory;
namespace nb = modelrun::python::nb;

modelrun_request::modelrun_request(modelrun_session& owner)
    : session(owner),
      inputs(owner.signature.table().input_count),
      bound(owner.signature.table().output_count),
      outputs(owner.signature.table().output_count) {}

void modelrun_request::bind(modelrun_port_kind kind, std::size_t index,
                            const DLTensor* tensor) {
  auto& ports = kind == MODELRUN_INPUT ? inputs : bound;
  if (kind == MODELRUN_STATE || index >= ports.size()) {
    throw InvalidArgument("a Python runner has no such port");
  }
  ports[index].reset();
  if (tensor != nullptr) ports[index].emplace(*tensor);
}

void modelrun_request::run() {
  const modelrun_signature& signature = session.signature.table();
  nb::dict arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    // A copy: Python code may keep an array for longer than the call.
    arrays[signature.inputs[i].name] = nb::cast(inputs[i]->view.clone());
  }
  take_outputs(nb::object(session.runner.attr("run")(arrays)));
}

void modelrun_request::take_outputs(nb::handle returned) {
  const modelrun_signature& signature = session.signature.table();
  const std::size_t count = signature.output_count;
  if (PyDict_Check(returned.ptr()) != 0) {
    const nb::dict named = nb::borrow<nb::dict>(returned);
    for (std::size_t i = 0; i < count; ++i) {
      const char* const name = signature.outputs[i].name;
      if (!named.contains(name)) {
        throw InvalidArgument("run returned no '" + std::string(name) + "'");
      }
      take_output(i, nb::object(named[name]));
    }
    return;
  }
  const nb::list listed{nb::object(nb::borrow(returned))};
  if (nb::len(listed) != count) {
    throw InvalidArgument("run returned " + std::to_string(nb::len(listed)) +
                          " arrays, expected " + std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    take_output(i, nb::object(listed[i]));
  }
}

void modelrun_request::take_output(std::size_t index, nb::handle array) {
  const modelrun_port& port = session.signature.table().outputs[index];
  auto tensor = modelrun::python::read_tensor(array.ptr());
  if (!tensor) {
    throw InvalidArgument(
        "run returned a " +
        modelrun::python::class_name_of(Py_TYPE(array.ptr())) + " for '" +
        port.name + "', expected an array");
  }
  const DLDataType dtype = modelrun::python::dlpack_dtype(tensor->dtype());
  if (dtype.code != port.dtype.code || dtype.bits != port.dtype.bits) {
    throw InvalidArgument("run returned " + to_string(*tensor) + " for '" +
                          port.name +
                          "', which is another dtype than its "
                          "output declares");
  }
  if (!bound[index]) {
    outputs[index] = *tensor;
    return;
  }
  const Tensor& target = bound[index]->view;
  if (!(target.shape() == tensor->shape())) {
    throw InvalidArgument("run returned " + to_string(*tensor) + " for '" +
                          port.name + "', which is bound to " +
                          to_string(target));
  }
  const Tensor source = tensor->contiguous();
  std::memcpy(target.raw_data(), source.raw_data(), source.byte_size());
}

DLManagedTensorVersioned* modelrun_request::fetch(modelrun_port_kind kind,
                                                  std::size_t index) const {
  if (kind != MODELRUN_OUTPUT || index >= outputs.size() ||
      !outputs[index].defined()) {
    throw InvalidArgument("a Python runner has no such output");
  }
  // Of its own memory: the runner may write to its array again.
  return outputs[index].clone().to_dlpack();
}
