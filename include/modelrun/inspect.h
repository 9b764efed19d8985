// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modelrun/dtype.h"
#include "modelrun/structure.h"

namespace modelrun {

/// An input or output of a program, as the program declares it.
struct TensorDescription {
  std::string name;
  std::optional<DType> dtype;
  /// One text per axis: a number, a symbol or expression (`"s36 + 1"`), or
  /// `"?"` where the program says nothing; `"..."` alone when it does not even
  /// say the rank.
  std::vector<std::string> shape;
};

/// One program of an export.
struct ComponentDescription {
  std::string name;
  std::filesystem::path file;
  /// Of the program and of the weight files that it names, in bytes.
  std::uint64_t size = 0;
  std::vector<std::filesystem::path> weight_files;
  /// The source model's class; empty when unrecorded.
  std::string architecture;
  std::vector<std::pair<std::string, std::string>> packages;
  std::optional<DType> dtype;
  /// Empty when the program's format can be read by its runtime only.
  std::vector<TensorDescription> inputs;
  std::vector<TensorDescription> outputs;
  /// The kwargs and outputs as trees; null when unrecorded.
  std::shared_ptr<const Structure> input_structure;
  std::shared_ptr<const Structure> output_structure;
  /// Scalar kwargs that are part of the program.
  std::vector<std::pair<std::string, Scalar>> constants;
};

/// What is in an export, as far as it can be told without its runtime.
struct ExportDescription {
  std::filesystem::path directory;
  /// `"onnx"`, `"openvino"`, `"dynamo"` or `"executorch"`.
  std::string format;
  /// `"export.json"`, `"optimum"` or `"file"`.
  std::string layout;
  std::vector<ComponentDescription> components;
};

struct InspectOptions {
  std::string subfolder = {};
  std::string file_name = {};
};

/// The format of an export, such as `"onnx"`. Reads its manifest only, or the
/// names of its files. Throws as `inspect` does.
[[nodiscard]] std::string export_format(const std::filesystem::path& path,
                                        const InspectOptions& options = {});

/// Reads an export and describes it. Opens no runtime, runs nothing.
///
/// Throws NotFound or InvalidArgument, which names the file and what is wrong
/// with it.
[[nodiscard]] ExportDescription inspect(const std::filesystem::path& path,
                                        const InspectOptions& options = {});

}  // namespace modelrun
