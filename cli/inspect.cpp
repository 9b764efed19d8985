// SPDX-License-Identifier: Apache-2.0
#include "modelrun/inspect.h"

#include <memory>
#include <sstream>
#include <string>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace modelrun::cli {
namespace {

std::string dtype_text(const std::optional<DType>& dtype) {
  return dtype ? std::string(name(*dtype)) : "?";
}

std::string shape_text(const std::vector<std::string>& shape) {
  std::string text = "[";
  for (const std::string& axis : shape) {
    if (text.size() > 1) text += ", ";
    text += axis;
  }
  return text + "]";
}

Json to_json(const std::vector<TensorDescription>& tensors) {
  Json list = Json::array();
  for (const TensorDescription& tensor : tensors) {
    list.push_back(
        {{"name", tensor.name},
         {"dtype", tensor.dtype ? Json(name(*tensor.dtype)) : Json()},
         {"shape", tensor.shape}});
  }
  return list;
}

Json to_json(const ComponentDescription& component) {
  Json weights = Json::array();
  for (const auto& file : component.weight_files) {
    weights.push_back(file.string());
  }
  Json packages = Json::object();
  for (const auto& [package, version] : component.packages) {
    packages[package] = version;
  }
  Json constants = Json::object();
  for (const auto& [name, value] : component.constants) {
    constants[name] = cli::to_json(value);
  }
  const auto structure = [](const auto& tree) {
    return tree != nullptr ? cli::to_json(*tree) : Json();
  };
  return {{"name", component.name},
          {"file", component.file.string()},
          {"size", component.size},
          {"weight_files", std::move(weights)},
          {"architecture", component.architecture},
          {"dtype", component.dtype ? Json(name(*component.dtype)) : Json()},
          {"packages", std::move(packages)},
          {"constants", std::move(constants)},
          {"inputs", to_json(component.inputs)},
          {"outputs", to_json(component.outputs)},
          {"input_structure", structure(component.input_structure)},
          {"output_structure", structure(component.output_structure)}};
}

void print_field(const char* title, const std::string& value) {
  if (value.empty()) return;
  print("  " + padded(title, 14) + clean(value) + "\n");
}

// Names are never shortened: they are what one copies into a call.
void print_tensors(const char* title,
                   const std::vector<TensorDescription>& tensors) {
  if (tensors.empty()) return;
  print("\n");
  Table table({{title}, {"dtype"}, {"shape"}});
  for (const TensorDescription& tensor : tensors) {
    table.add(
        {tensor.name, dtype_text(tensor.dtype), shape_text(tensor.shape)});
  }
  print(table.text(2, 0));
}

void print_tree(const char* title,
                const std::shared_ptr<const Structure>& structure) {
  if (structure == nullptr) return;
  print("\n  " + styled(title, "1", stdout) + "\n");
  std::istringstream lines(to_string(*structure));
  for (std::string line; std::getline(lines, line);) {
    print("  " + clean(line) + "\n");
  }
}

void print_component(const ComponentDescription& component) {
  print("\n" + styled("component " + clean(component.name), "1", stdout) +
        "\n");
  std::string file = component.file.filename().string();
  for (const auto& weights : component.weight_files) {
    file += " + " + weights.filename().string();
  }
  print_field("file",
              file + ", " + readable_size(static_cast<double>(component.size)));
  print_field("architecture", component.architecture);
  if (component.dtype) print_field("dtype", dtype_text(component.dtype));
  std::string packages;
  for (const auto& [package, version] : component.packages) {
    packages += (packages.empty() ? "" : ", ") + package + " " + version;
  }
  print_field("packages", packages);
  std::string constants;
  for (const auto& [name, value] : component.constants) {
    constants +=
        (constants.empty() ? "" : ", ") + name + " = " + to_string(value);
  }
  print_field("constants", constants);
  print_tensors("inputs", component.inputs);
  print_tensors("outputs", component.outputs);
  print_tree("kwargs", component.input_structure);
  print_tree("returns", component.output_structure);
}

void keep_component(ExportDescription& description, const std::string& name) {
  if (name.empty()) return;
  std::string names;
  for (ComponentDescription& component : description.components) {
    names += (names.empty() ? "'" : ", '") + component.name + "'";
    if (component.name != name) continue;
    ComponentDescription kept = std::move(component);
    description.components.clear();
    description.components.push_back(std::move(kept));
    return;
  }
  throw NotFound("no component '" + name + "', there are " + names);
}

int inspect_export(const ModelOptions& options) {
  ExportDescription description =
      inspect(options.path,
              {.subfolder = options.subfolder, .file_name = options.file_name});
  keep_component(description, options.component);
  if (options.json) {
    Json components = Json::array();
    for (const ComponentDescription& component : description.components) {
      components.push_back(to_json(component));
    }
    print_json(Json{{"directory", description.directory.string()},
                    {"format", description.format},
                    {"layout", description.layout},
                    {"components", std::move(components)}});
    return exit_ok;
  }
  print(styled(clean(description.directory.string()), "1", stdout) + "\n");
  print_field("format", description.format);
  print_field("layout", description.layout);
  std::string names;
  for (const ComponentDescription& component : description.components) {
    names += (names.empty() ? "" : ", ") + component.name;
  }
  print_field("components", names);
  for (const ComponentDescription& component : description.components) {
    print_component(component);
  }
  return exit_ok;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show what is in an export; needs no runtime");
  const auto options = std::make_shared<ModelOptions>();
  add_export_options(*command, *options);
  add_component_option(*command, *options);
  command->footer(
      "Examples:\n"
      "  modelrun inspect path/to/export\n"
      "  modelrun inspect path/to/export --component decode --json\n"
      "  modelrun inspect model.onnx");
  command->callback([options, &action] {
    action = [options] { return inspect_export(*options); };
  });
}

}  // namespace modelrun::cli
