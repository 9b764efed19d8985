// SPDX-License-Identifier: Apache-2.0
#include "modelrun/version.h"

#define MODELRUN_STRING(x) MODELRUN_STRING_OF(x)
#define MODELRUN_STRING_OF(x) #x

namespace modelrun {

std::string_view version() noexcept {
  return MODELRUN_STRING(MODELRUN_VERSION_MAJOR) "." MODELRUN_STRING(
      MODELRUN_VERSION_MINOR) "." MODELRUN_STRING(MODELRUN_VERSION_PATCH);
}

}  // namespace modelrun
