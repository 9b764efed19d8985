// SPDX-License-Identifier: Apache-2.0
#include "artifact/artifact.h"

#include <system_error>

#include "artifact/json_text.h"
#include "artifact/layout.h"
#include "artifact/manifest.h"
#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxJson = std::size_t{16} << 20;
constexpr const char* kManifestFile = "export.json";

// The text of an optional config, checked to be an object.
std::string load_config(const fs::path& directory, const char* name) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(directory / name, error))) return "";
  const fs::path path = resolve_within(directory, name, display(directory));
  std::string text = load_text(path, kMaxJson);
  const std::string source = display(path);
  static_cast<void>(json_object(parse_json(text, source), source));
  return text;
}

Component to_component(ManifestComponent&& entry, const std::string& format,
                       const fs::path& directory, const std::string& source) {
  const std::string where = source + ": components." + entry.name + ".file";
  Component component;
  component.file = resolve_within(directory, entry.file, where);
  std::error_code error;
  if (!fs::is_regular_file(component.file, error)) {
    throw NotFound(where + ": there is no file " + display(component.file) +
                   ": the export is incomplete, copy or download it again");
  }
  component.name = std::move(entry.name);
  component.format = format;
  component.metadata = std::move(entry.metadata);
  return component;
}

void load_manifest(const fs::path& path, const ArtifactOptions& options,
                   Artifact& artifact) {
  const std::string source = display(path);
  Manifest manifest = parse_manifest(load_text(path, kMaxJson), source);
  artifact.layout = kManifestFile;
  std::string files;
  for (ManifestComponent& entry : manifest.components) {
    files += (files.empty() ? "" : ", ") + printable(entry.file);
    if (!options.file_name.empty() && options.file_name != entry.file) {
      continue;
    }
    artifact.components.push_back(to_component(
        std::move(entry), manifest.export_format, artifact.directory, source));
  }
  if (artifact.components.empty()) {
    throw NotFound(source + ": names no file " + printable(options.file_name) +
                   ", which the option file_name asks for; it names " + files);
  }
}

Artifact load_directory(const fs::path& directory,
                        const ArtifactOptions& options) {
  Artifact artifact;
  artifact.directory = directory;
  std::error_code error;
  if (fs::exists(fs::symlink_status(directory / kManifestFile, error))) {
    load_manifest(resolve_within(directory, kManifestFile, display(directory)),
                  options, artifact);
  } else {
    artifact.layout = "optimum";
    artifact.components = find_programs(directory, options.file_name);
  }
  artifact.config = load_config(directory, "config.json");
  artifact.generation_config = load_config(directory, "generation_config.json");
  return artifact;
}

Artifact load_file(const fs::path& path, const ArtifactOptions& options) {
  if (!options.file_name.empty() || !options.subfolder.empty()) {
    throw InvalidArgument(display(path) +
                          ": is a file: the options file_name and subfolder "
                          "go with a directory");
  }
  if (path.filename() == kManifestFile) {
    return load_directory(path.has_parent_path() ? path.parent_path() : ".",
                          options);
  }
  Component component;
  component.format = format_of(path);
  if (component.format.empty()) {
    throw Unsupported(display(path) +
                      ": is no program that modelrun knows: expected a "
                      "directory, or a .onnx, .xml, .pt2 or .pte file");
  }
  component.name = "model";
  component.file = path;
  Artifact artifact;
  artifact.directory = path.has_parent_path() ? path.parent_path() : ".";
  artifact.layout = "file";
  artifact.components.push_back(std::move(component));
  return artifact;
}

}  // namespace

Artifact load_artifact(const fs::path& path, const ArtifactOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty() || !fs::exists(status)) {
    throw NotFound(display(path) +
                   ": no such file or directory: expected an export's "
                   "directory or a program file");
  }
  if (fs::is_regular_file(status)) return load_file(path, options);
  if (!fs::is_directory(status)) {
    throw Unsupported(display(path) + ": is neither a directory nor a file");
  }
  if (options.subfolder.empty()) return load_directory(path, options);
  const fs::path below =
      resolve_within(path, options.subfolder, "the option subfolder");
  if (!fs::is_directory(below, error)) {
    throw NotFound(display(path) + ": has no folder " +
                   printable(options.subfolder) +
                   ", which the option subfolder asks for");
  }
  return load_directory(below, options);
}

}  // namespace modelrun
