// SPDX-License-Identifier: Apache-2.0
#include "fake_backend.h"

extern "C" __attribute__((visibility("default"))) const modelrun_backend_table*
modelrun_backend_entry_v1() {
  return modelrun::fake::table();
}
