// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "modelrun/inspect.h"

namespace modelrun::detail {

/// What an encoder takes, as far as its export says.
struct EncoderInputs {
  /// The kwargs that it reads; empty when unrecorded.
  std::set<std::string, std::less<>> names;
  /// Of `input_ids`, where the program fixes them.
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> sequence;
};

[[nodiscard]] EncoderInputs encoder_inputs(
    const ExportDescription& description);

}  // namespace modelrun::detail
