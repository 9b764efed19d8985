// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "modelrun/dtype.h"

namespace modelrun {

/// A dimension: a size, or a symbol or an expression of symbols. An empty text
/// is a dimension of which the graph says nothing.
using OnnxDim = std::variant<std::int64_t, std::string>;

/// An input or output of a graph.
struct OnnxValue {
  std::string name;
  /// The type for messages: `"float32"`, `"string"`, `"sequence"`, ...
  std::string type;
  /// Absent when it is no tensor, or of elements that no tensor here has.
  std::optional<DType> dtype;
  /// Absent when the graph does not even say the rank.
  std::optional<std::vector<OnnxDim>> dims;
};

/// A tensor whose bytes lie in another file.
struct OnnxExternalData {
  std::string tensor;
  /// What holds the tensor: `"initializer"`, `"sparse initializer"`, or
  /// `"attribute 'value' of node 'n'"`.
  std::string holder;
  /// The file, relative to the graph's own folder; untrusted.
  std::string location;
  std::uint64_t offset = 0;
  /// As recorded, or what the shape needs when no length is.
  std::uint64_t length = 0;
};

/// An operator that a graph uses; the domain `"ai.onnx"` is empty.
struct OnnxOperator {
  std::string domain;
  std::string name;
  friend auto operator<=>(const OnnxOperator&, const OnnxOperator&) = default;
};

/// An input whose values index the rows of an embedding.
struct OnnxIndexInput {
  std::string input;
  /// Values are 0..rows-1.
  std::int64_t rows = 0;
};

/// What the header, the interface and the references of an `.onnx` file say.
struct OnnxProgram {
  std::filesystem::path file;
  std::int64_t ir_version = 0;
  /// (domain, version); the domain of ONNX's own operators is empty.
  std::vector<std::pair<std::string, std::int64_t>> opset_imports;
  std::string producer_name;
  std::string producer_version;
  /// What a caller must give: without those that have an initializer.
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxExternalData> external_data;
  /// The bytes of all initializers and constants, wherever they lie.
  std::uint64_t initializer_bytes = 0;
  /// All operators used, also in subgraphs and functions, sorted, without the
  /// file's own functions.
  std::vector<OnnxOperator> operators;
  /// The domains of `operators`, sorted.
  std::vector<std::string> domains;
  /// Inputs that are seen to index an embedding, with its rows.
  std::vector<OnnxIndexInput> index_inputs;
};

/// Scans an `.onnx` file without touching its weights. Throws NotFound, or
/// InvalidArgument that names the file and what is wrong with it.
[[nodiscard]] OnnxProgram load_onnx_program(const std::filesystem::path& file);

/// The same of bytes at hand; `file` is for messages and external data.
[[nodiscard]] OnnxProgram parse_onnx_program(
    std::span<const std::uint8_t> bytes, const std::filesystem::path& file);

/// The files that hold external data, each once, beside the program. Each is
/// checked to lie within the program's folder (or its Hub cache), to be there
/// and to be as long as the graph needs. Throws InvalidArgument or NotFound,
/// which name the tensor and the file.
[[nodiscard]] std::vector<std::filesystem::path> external_data_files(
    const OnnxProgram& program);

}  // namespace modelrun
