// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "modelrun/dtype.h"
#include "modelrun/structure.h"

namespace modelrun {

/// A tensor as the manifest recorded it when the model was traced.
struct TensorSpec {
  std::vector<std::int64_t> shape;
  std::optional<DType> dtype;
};

/// One traced kwarg: a tensor, a mapping of tensors by their leaf paths (a
/// ModelOutput), or a container of some class (a cache).
struct KwargSpec {
  std::string name;
  std::optional<TensorSpec> tensor;
  std::vector<std::pair<std::string, TensorSpec>> leaves;
  std::string container;
};

/// What the manifest says of one component. A field that the manifest lacks
/// has its default here.
struct Metadata {
  std::string architecture;
  std::vector<std::pair<std::string, std::string>> packages;
  /// The exporter's options, as JSON text of one object.
  std::string export_config = "{}";
  std::optional<DType> export_dtype;
  std::string export_device;
  std::vector<KwargSpec> kwargs;
  /// A dict of the traced kwargs in their traced order; null when unrecorded.
  /// Its leaves have torch's own numbers: those of `in_constants` are among
  /// them.
  std::shared_ptr<const Structure> in_spec;
  /// The outputs, with `out_constants` already in their places as constants
  /// and the tensor leaves renumbered 0..n-1; null when unrecorded.
  std::shared_ptr<const Structure> out_spec;
  /// Scalar kwargs traced into the graph.
  std::vector<std::pair<std::string, Scalar>> in_constants;
};

/// One program of an export.
struct Component {
  std::string name;
  /// Where the program is: checked to lie within the artifact.
  std::filesystem::path file;
  /// `"onnx"`, `"openvino"`, `"dynamo"` or `"executorch"`.
  std::string format;
  /// Absent for a program that no manifest describes.
  std::optional<Metadata> metadata;
};

/// A directory with an export in it, as read: no runtime has been opened.
struct Artifact {
  std::filesystem::path directory;
  /// How it was recognized: `"export.json"`, `"optimum"` or `"file"`.
  std::string layout;
  std::vector<Component> components;
  /// JSON text of `config.json` and `generation_config.json`, empty if absent.
  std::string config;
  std::string generation_config;
};

struct ArtifactOptions {
  /// Picks one of several variants by its file name, such as
  /// `"model_quantized.onnx"`, or its path below the directory; the artifact
  /// then has that one component.
  std::string file_name;
  /// A folder below the directory that holds the export.
  std::string subfolder;
};

/// Reads an export: a directory with `export.json`, an optimum layout, or one
/// program file. Opens no program. Throws NotFound, InvalidArgument (which
/// names the file and field) or Unsupported.
[[nodiscard]] Artifact load_artifact(const std::filesystem::path& path,
                                     const ArtifactOptions& options = {});

}  // namespace modelrun
