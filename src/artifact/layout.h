// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/artifact.h"

namespace modelrun {

/// The format that a program file's suffix stands for: `"onnx"` for `.onnx`,
/// `"openvino"` for `.xml`, `"dynamo"` for `.pt2`, `"executorch"` for `.pte`;
/// empty for any other.
[[nodiscard]] std::string format_of(const std::filesystem::path& file);

/// What a program is for, from its file's name without the marks of a variant:
/// `onnx/decoder_model_quantized.onnx` and `openvino_decoder_model.xml` are
/// `decoder_model`s.
[[nodiscard]] std::string role_of(const std::filesystem::path& file);

/// Finds the programs of a directory that has no manifest: those beside its
/// configs and those in its `onnx` and `openvino` folders, one component a
/// role. `file_name` picks one of them, by its name or its path below the
/// directory. Throws InvalidArgument, which lists them, when several programs
/// have one role, NotFound when there are none.
[[nodiscard]] std::vector<Component> find_programs(
    const std::filesystem::path& directory, std::string_view file_name);

}  // namespace modelrun
