// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

namespace modelrun::torch {

/// While it lives, what torch warns of on this thread goes to the host's log.
class WarningsToHost {
 public:
  WarningsToHost();

 private:
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace modelrun::torch
