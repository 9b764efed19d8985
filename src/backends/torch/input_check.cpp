// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/input_check.h"

#include <string>

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

std::string shown(const PortSpec& port) {
  return "input '" + port.name + "' (" + printable(port.recorded) + ")";
}

[[noreturn]] void fail_size(const PortSpec& port, std::size_t axis,
                            const std::string& expected, std::int64_t got) {
  throw InvalidArgument(shown(port) + ": axis " + std::to_string(axis) +
                        ": expected " + expected + ", got " +
                        std::to_string(got));
}

std::string shown_sizes(const Program& program, const GuardExpression& guard,
                        std::span<const at::Tensor> inputs) {
  std::string text;
  for (const auto& reference : guard.references()) {
    const auto found = program.input_of_leaf.find(reference.leaf);
    if (found == program.input_of_leaf.end() || !reference.axis) continue;
    text.append(text.empty() ? "" : ", ")
        .append(shown(program.inputs[found->second].port))
        .append(" has ")
        .append(std::to_string(inputs[found->second].size(*reference.axis)))
        .append(" on axis ")
        .append(std::to_string(*reference.axis));
  }
  return text;
}

void check_fixed_sizes(const ProgramInput& input, const at::Tensor& tensor) {
  const auto& dims = input.port.dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::int64_t size = tensor.size(static_cast<std::int64_t>(axis));
    if (dims[axis] >= 0 && dims[axis] != size) {
      fail_size(input.port, axis, std::to_string(dims[axis]), size);
    }
  }
}

void check_guard(const Program& program, const GuardExpression& guard,
                 std::span<const at::Tensor> inputs) {
  const auto lookup = [&](const GuardExpression::Reference& reference) {
    const auto found = program.input_of_leaf.find(reference.leaf);
    if (found == program.input_of_leaf.end()) {
      return program.constant_of_leaf.at(reference.leaf);
    }
    return c10::IValue(inputs[found->second].size(*reference.axis));
  };
  std::string why;
  try {
    if (guard.holds(lookup)) return;
  } catch (const InvalidArgument& error) {
    why = std::string(" (") + error.what() + ")";
  }
  throw InvalidArgument("the inputs do not fit together" + why +
                        ": the export is for " + printable(guard.text()) +
                        " alone; " + shown_sizes(program, guard, inputs));
}

}  // namespace

void check_inputs(const Program& program, std::span<const at::Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_fixed_sizes(program.inputs[i], inputs[i]);
  }
  for (const SizeBound& bound : program.bounds) {
    const PortSpec& port = program.inputs[bound.input].port;
    const std::int64_t size =
        inputs[bound.input].size(static_cast<std::int64_t>(bound.axis));
    if (bound.maximum && size > *bound.maximum) {
      fail_size(port, bound.axis,
                "at most " + std::to_string(*bound.maximum) +
                    ", which the export is made for",
                size);
    }
    if (bound.minimum && size < *bound.minimum) {
      fail_size(port, bound.axis,
                "at least " + std::to_string(*bound.minimum) +
                    ", which the export is made for",
                size);
    }
  }
  for (const GuardExpression& guard : program.guards) {
    check_guard(program, guard, inputs);
  }
}

}  // namespace modelrun::torch
