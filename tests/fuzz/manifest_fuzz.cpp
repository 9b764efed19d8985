// SPDX-License-Identifier: Apache-2.0
// The manifest and, through its specs, the pytree reader: whatever the bytes,
// they are read or refused by an Error.

#include "artifact/manifest.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "artifact/pytree.h"
#include "modelrun/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    static_cast<void>(modelrun::parse_manifest(text, "export.json"));
  } catch (const modelrun::Error&) {
  }
  try {
    const modelrun::Structure tree = modelrun::parse_pytree(text, "spec");
    static_cast<void>(modelrun::to_string(tree));
  } catch (const modelrun::Error&) {
  }
  return 0;
}
