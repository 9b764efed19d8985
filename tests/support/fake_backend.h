// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/fake/fake_backend.h"
#include "modelrun/backends.h"

namespace modelrun::testing {

/// Registers the fake backend, in this process, under a name of the test's own.
/// Under `"onnxruntime"` it takes the place of the real one.
inline void register_fake(std::string name = "fake",
                          std::vector<std::string> formats = {"fake"}) {
  register_backend({.name = std::move(name),
                    .formats = std::move(formats),
                    .plugin = {},
                    .table = fake::table()});
}

}  // namespace modelrun::testing
