// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/signature.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/common/option_reader.h"
#include "backends/executorch/api.h"
#include "backends/executorch/element_type.h"
#include "backends/executorch/error_words.h"
#include "backends/executorch/scalar.h"

namespace modelrun::executorch {
namespace {

using ::executorch::runtime::TensorShapeDynamism;

[[noreturn]] void refuse(const char* kind, std::size_t position,
                         const std::string& what) {
  throw Failure(MODELRUN_UNSUPPORTED,
                std::string(kind) + " '#" + std::to_string(position) + "' is " +
                    what +
                    "; only tensors of bool, integers, float16, bfloat16, "
                    "float32 and float64, and single values can be passed: "
                    "export the model without it");
}

et::TensorInfo taken(et::Result<et::TensorInfo> info, const char* kind,
                     std::size_t position, LogCapture& log) {
  check(info.error(),
        std::string(kind) + " '#" + std::to_string(position) + "'", log);
  return *info;
}

}  // namespace

Signature::Signature(const Program& program, const LoadedMethod& method) {
  add_inputs(program, method);
  add_outputs(program, method);
  relate(method);
  view_.struct_size = sizeof(modelrun_signature);
  view_.port_size = sizeof(modelrun_port);
  view_.input_count = inputs_.size();
  view_.inputs = inputs_.data();
  view_.output_count = outputs_.size();
  view_.outputs = outputs_.data();
}

void Signature::add_inputs(const Program& program, const LoadedMethod& method) {
  LogCapture log;
  const et::MethodMeta meta = program.meta();
  for (std::size_t i = 0; i < meta.num_inputs(); ++i) {
    const et::EValue& value = method.input(i);
    if (!value.isTensor()) {
      if (!is_scalar(value)) refuse("input", i, "a list");
      scalars_.push_back(i);
      continue;
    }
    PortFacts& facts = input_facts_.emplace_back();
    facts.position = i;
    const auto info = taken(meta.input_tensor_meta(i), "input", i, log);
    inputs_.push_back(tensor_port("input", info, value, facts));
  }
}

void Signature::add_outputs(const Program& program,
                            const LoadedMethod& method) {
  LogCapture log;
  const et::MethodMeta meta = program.meta();
  const auto& computed = program.plan().computed;
  for (std::size_t i = 0; i < meta.num_outputs(); ++i) {
    const et::EValue& value = method.output(i);
    PortFacts& facts = output_facts_.emplace_back();
    facts.position = i;
    if (value.isTensor()) {
      const auto info = taken(meta.output_tensor_meta(i), "output", i, log);
      outputs_.push_back(tensor_port("output", info, value, facts));
    } else {
      if (!is_scalar(value)) refuse("output", i, "a list");
      const bool is_computed = i >= computed.size() || computed[i];
      outputs_.push_back(value_port(value, is_computed, facts));
    }
  }
}

void Signature::relate(const LoadedMethod& method) {
  for (std::size_t out = 0; out < outputs_.size(); ++out) {
    for (std::size_t in = 0; in < inputs_.size(); ++in) {
      const auto& output = method.output(output_facts_[out].position);
      if (&output != &method.input(input_facts_[in].position)) continue;
      output_facts_[out].same_as = in;
      input_facts_[in].same_as = out;
    }
  }
}

Signature::Storage& Signature::add_storage(std::size_t position) {
  Storage& storage = storage_.emplace_back();
  storage.name = '#' + std::to_string(position);
  return storage;
}

modelrun_port Signature::tensor_port(const char* kind,
                                     const et::TensorInfo& info,
                                     const et::EValue& value,
                                     PortFacts& facts) {
  const auto dtype = to_dlpack(info.scalar_type());
  if (!dtype) {
    refuse(kind, facts.position,
           "a tensor of ExecuTorch's type number " +
               std::to_string(static_cast<int>(info.scalar_type())));
  }
  const auto dynamism = value.toTensor().shape_dynamism();
  facts.is_planned = info.is_memory_planned();
  facts.is_static = dynamism == TensorShapeDynamism::STATIC;
  facts.is_bounded = dynamism != TensorShapeDynamism::DYNAMIC_UNBOUND;
  facts.bounds.assign(info.sizes().begin(), info.sizes().end());
  facts.max_bytes = info.nbytes();
  facts.order.assign(info.dim_order().begin(), info.dim_order().end());
  std::vector<std::uint8_t> row_major(facts.bounds.size());
  std::iota(row_major.begin(), row_major.end(), std::uint8_t{0});
  facts.is_row_major = facts.order == row_major;
  auto sorted = facts.order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != row_major) {
    refuse(kind, facts.position, "a tensor with an impossible order of axes");
  }

  Storage& storage = add_storage(facts.position);
  // Which of its axes may be smaller a program does not tell.
  storage.dims = facts.is_static
                     ? facts.bounds
                     : std::vector<std::int64_t>(facts.bounds.size(), -1);
  modelrun_port port{};
  port.name = storage.name.c_str();
  port.dtype = *dtype;
  port.rank = static_cast<std::int32_t>(storage.dims.size());
  port.dims = storage.dims.data();
  return port;
}

modelrun_port Signature::value_port(const et::EValue& value, bool is_computed,
                                    PortFacts& facts) {
  facts.is_tensor = false;
  Storage& storage = add_storage(facts.position);
  modelrun_port port{};
  port.name = storage.name.c_str();
  port.dtype = scalar_dtype(value);
  port.dims = storage.dims.data();
  const bool is_text = value.isNone() || value.isString();
  const bool is_finite = !value.isDouble() || std::isfinite(value.toDouble());
  if (is_text || (!is_computed && is_finite)) {
    storage.constant = plugin::shown_json(scalar_value(value));
    port.constant = storage.constant.c_str();
  }
  port.is_number = is_text ? 0 : 1;
  return port;
}

}  // namespace modelrun::executorch
