// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "modelrun/tensor_file.h"
#include "modelrun/value.h"

namespace modelrun::testing {

/// What one call of a source model took and returned, in eager PyTorch.
struct GoldenCase {
  std::string name;
  std::string component;
  /// The case whose outputs hold this one's cache; empty for none.
  std::string follows;
  std::filesystem::path inputs;
  std::filesystem::path outputs;
};

/// One committed export.
struct Fixture {
  std::string name;
  std::string format;
  std::string dtype;
  std::filesystem::path path;
  /// How far an output may be from eager's, absolute.
  double tolerance = 0;
  /// Whether its runtime can run it on a CPU.
  bool runs = true;
  std::vector<GoldenCase> cases;
};

/// What a test's output shows of it.
inline void PrintTo(const Fixture& fixture, std::ostream* stream) {
  *stream << fixture.name << " (" << fixture.format << ")";
}

/// The fixtures of a format, as `tests/models/fixtures/index.json` lists them.
[[nodiscard]] std::vector<Fixture> fixtures(const std::string& format);

/// A fixture by its name; fails the test when there is none.
[[nodiscard]] Fixture fixture(const std::string& name,
                              const std::string& format = "onnx");

/// One side of a golden case: tensors by their leaf paths, and the tree that
/// they are in (tests/models/README.md says how it is written).
struct Golden {
  NamedValues tensors;
  nlohmann::ordered_json tree;
  /// By path, what the source model returned where a trace fixes another value.
  nlohmann::ordered_json live;

  [[nodiscard]] const Tensor& tensor(const std::string& path) const;
};
[[nodiscard]] Golden load_golden(const std::filesystem::path& file);

/// The golden with float32 in place of its 16-bit floats: OpenVINO's exporter
/// makes the inputs and outputs of such a model float32.
[[nodiscard]] Golden with_float32(Golden golden);

/// The kwargs of a golden input, nested as the tree says.
[[nodiscard]] NamedValues nested_kwargs(const Golden& golden);
/// The same, each leaf a kwarg of its own.
[[nodiscard]] NamedValues flat_kwargs(const Golden& golden);
[[nodiscard]] std::vector<Kwarg> as_kwargs(const NamedValues& values);

/// Compares outputs with golden ones: every class, key and constant, and every
/// tensor within `tolerance`. Empty when they are alike, else what is not.
[[nodiscard]] std::string difference(const Value& outputs, const Golden& golden,
                                     double tolerance);

}  // namespace modelrun::testing
