// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "modelrun/tokenizer.h"

namespace modelrun::detail {

/// Puts what `tokenizer_config.json` and `special_tokens_map.json` say, where
/// they are, over `config`, which holds what `tokenizer.json` says.
void apply_tokenizer_files(const std::filesystem::path& directory,
                           TokenizerConfig& config);

}  // namespace modelrun::detail
