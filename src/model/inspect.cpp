// SPDX-License-Identifier: Apache-2.0
#include "modelrun/inspect.h"

#include <system_error>
#include <utility>

#include "artifact/artifact.h"
#include "artifact/onnx_program.h"
#include "artifact/safe_path.h"
#include "model/describe.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) {
    throw NotFound(display(file) + ": cannot be read: " + error.message());
  }
  return size;
}

TensorDescription describe_value(const OnnxValue& value) {
  TensorDescription description{value.name, value.dtype, {}};
  if (!value.dims) {
    description.shape = {"..."};
    return description;
  }
  for (const OnnxDim& dim : *value.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    const auto* symbol = std::get_if<std::string>(&dim);
    description.shape.push_back(size != nullptr   ? std::to_string(*size)
                                : symbol->empty() ? "?"
                                                  : *symbol);
  }
  return description;
}

// What only an ONNX program says without its runtime.
void describe_onnx(ComponentDescription& description) {
  const OnnxProgram program = load_onnx_program(description.file);
  for (const OnnxValue& value : program.inputs) {
    description.inputs.push_back(describe_value(value));
  }
  for (const OnnxValue& value : program.outputs) {
    description.outputs.push_back(describe_value(value));
  }
  description.weight_files = external_data_files(program);
}

void describe_weights(const Component& component,
                      ComponentDescription& description) {
  if (component.format == "onnx") describe_onnx(description);
  if (component.format == "openvino") {
    fs::path weights = component.file;
    weights.replace_extension(".bin");
    std::error_code error;
    if (fs::exists(weights, error)) {
      description.weight_files.push_back(std::move(weights));
    }
  }
  description.size = size_of(component.file);
  for (const fs::path& file : description.weight_files) {
    description.size += size_of(file);
  }
}

}  // namespace

namespace detail {

ComponentDescription describe_component(const Component& component) {
  ComponentDescription description;
  description.name = component.name;
  description.file = component.file;
  if (component.metadata) {
    const Metadata& metadata = *component.metadata;
    description.architecture = metadata.architecture;
    description.packages = metadata.packages;
    description.dtype = metadata.export_dtype;
    description.input_structure = metadata.in_spec;
    description.output_structure = metadata.out_spec;
    description.constants = metadata.in_constants;
  }
  describe_weights(component, description);
  return description;
}

std::vector<TensorDescription> describe_ports(const std::vector<Port>& ports) {
  std::vector<TensorDescription> descriptions;
  for (const Port& port : ports) {
    TensorDescription description{port.name, port.dtype, {}};
    if (!port.ranked) description.shape = {"..."};
    for (std::size_t axis = 0; axis < port.dims.size(); ++axis) {
      const std::int64_t size = port.dims[axis];
      const std::string& symbol = port.symbols[axis];
      description.shape.push_back(size >= 0        ? std::to_string(size)
                                  : symbol.empty() ? "?"
                                                   : symbol);
    }
    descriptions.push_back(std::move(description));
  }
  return descriptions;
}

}  // namespace detail

std::string export_format(const fs::path& path, const InspectOptions& options) {
  const Artifact artifact = load_artifact(
      path, {.file_name = options.file_name, .subfolder = options.subfolder});
  return artifact.components.front().format;
}

ExportDescription inspect(const fs::path& path, const InspectOptions& options) {
  const Artifact artifact = load_artifact(
      path, {.file_name = options.file_name, .subfolder = options.subfolder});
  ExportDescription description;
  description.directory = artifact.directory;
  description.layout = artifact.layout;
  for (const Component& component : artifact.components) {
    if (description.format.empty()) description.format = component.format;
    description.components.push_back(detail::describe_component(component));
  }
  return description;
}

}  // namespace modelrun
