// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "artifact/artifact.h"

namespace modelrun {

/// The schema of `export.json` that this library reads; a newer one warns.
inline constexpr std::int64_t kManifestSchema = 1;

/// A component as the manifest names it.
struct ManifestComponent {
  std::string name;
  /// The program's file, as written: not yet checked against the directory.
  std::string file;
  Metadata metadata;
};

/// The content of an `export.json`.
struct Manifest {
  std::int64_t schema_version = kManifestSchema;
  std::string export_format;
  std::vector<ManifestComponent> components;
};

/// Reads the text of an `export.json`. `source` is what messages call it.
/// Throws InvalidArgument that names the source and the field's path.
[[nodiscard]] Manifest parse_manifest(std::string_view text,
                                      const std::string& source);

}  // namespace modelrun
