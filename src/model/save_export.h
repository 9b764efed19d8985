// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/model_state.h"

namespace modelrun::detail {

/// Copies the files of the components of an export, with its configs and the
/// part of its manifest that describes them. See
/// `ExportedModel::save_pretrained`.
void save_export(const ModelState& state,
                 const std::filesystem::path& directory);

}  // namespace modelrun::detail
