// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <memory>
#include <openvino/runtime/core.hpp>
#include <string>
#include <string_view>

#include "backends/common/failure.h"

namespace modelrun::openvino {

using plugin::Failure;

/// The runtime's core, with its device plugins. Sessions share it, so it may
/// outlive the backend. Thread-safe.
class Runtime {
 public:
  Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] ov::Core& core() const noexcept { return core_; }
  /// As `"2026.4.1"`.
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  /// The file of the runtime that is linked.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  mutable ov::Core core_;
  std::string version_;
  std::string path_;
};

/// What the runtime says, without the places in its sources.
[[nodiscard]] std::string words_of(const std::exception& exception);

/// Runs `body`; what the runtime throws becomes a Failure of this status, after
/// `doing`.
template <typename Body>
decltype(auto) call(modelrun_status status, std::string_view doing,
                    Body&& body) {
  try {
    return body();
  } catch (const Failure&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    throw Failure(
        status, "OpenVINO, " + std::string(doing) + ": " + words_of(exception));
  }
}

}  // namespace modelrun::openvino
