// SPDX-License-Identifier: Apache-2.0
#include "backends/common/failure.h"

#include <new>

namespace modelrun::plugin {

void write_to(const modelrun_sink* sink, std::string_view text) noexcept {
  if (sink == nullptr || sink->write == nullptr) return;
  sink->write(sink->context, text.data(), text.size());
}

modelrun_status report_exception(const modelrun_sink* error) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    write_to(error, failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    write_to(error, "out of memory");
  } catch (const std::exception& exception) {
    write_to(error, exception.what());
  } catch (...) {
    write_to(error, "unknown failure");
  }
  return MODELRUN_BACKEND_ERROR;
}

}  // namespace modelrun::plugin
