// SPDX-License-Identifier: Apache-2.0
// A plugin of another ABI number, for the test that it is refused.
#include "fake_backend.h"

extern "C" __attribute__((visibility("default"))) const modelrun_backend_table*
modelrun_backend_entry_v1() {
  static const modelrun_backend_table table = [] {
    modelrun_backend_table copy = *modelrun::fake::table();
    copy.abi = MODELRUN_BACKEND_ABI + 1;
    return copy;
  }();
  return &table;
}
