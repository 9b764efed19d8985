// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/boundary.h"

#include <c10/util/Exception.h>

#include "backends/common/failure.h"
#include "modelrun/error.h"

namespace modelrun::torch {

modelrun_status report_exception(const modelrun_sink* error) noexcept {
  using plugin::write_to;
  try {
    throw;
  } catch (const InvalidArgument& failure) {
    write_to(error, failure.what());
    return MODELRUN_INVALID_ARGUMENT;
  } catch (const NotFound& failure) {
    write_to(error, failure.what());
    return MODELRUN_NOT_FOUND;
  } catch (const Unsupported& failure) {
    write_to(error, failure.what());
    return MODELRUN_UNSUPPORTED;
  } catch (const c10::Error& failure) {
    write_to(error, failure.what_without_backtrace());
  } catch (...) {
    return plugin::report_exception(error);
  }
  return MODELRUN_BACKEND_ERROR;
}

}  // namespace modelrun::torch
