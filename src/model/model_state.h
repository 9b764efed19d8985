// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "modelrun/exported_model.h"
#include "runner/model_runner.h"

namespace modelrun::detail {

/// A program with what runs it.
struct LoadedComponent {
  std::shared_ptr<const Component> component;
  /// Null when no registered backend reads the format.
  std::shared_ptr<const ModelRunner> runner;
};

/// What the handles of one loaded export share. Immutable.
struct ModelState {
  std::string format;
  std::filesystem::path directory;
  LoadOptions options;
  Value config;
  Value generation_config;
  std::vector<LoadedComponent> components;
};

/// Opens the program of a component with the backend that the options name,
/// or the default one of its format; a null runner when there is none.
[[nodiscard]] LoadedComponent load_component(
    std::shared_ptr<const Component> component, const LoadOptions& options);

}  // namespace modelrun::detail
