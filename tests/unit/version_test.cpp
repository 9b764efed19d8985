// SPDX-License-Identifier: Apache-2.0
#include "modelrun/version.h"

#include <gtest/gtest.h>

#include <string>

namespace modelrun {
namespace {

TEST(Version, IsTheHeadersThreeNumbers) {
  EXPECT_EQ(version(), std::to_string(MODELRUN_VERSION_MAJOR) + "." +
                           std::to_string(MODELRUN_VERSION_MINOR) + "." +
                           std::to_string(MODELRUN_VERSION_PATCH));
}

}  // namespace
}  // namespace modelrun
