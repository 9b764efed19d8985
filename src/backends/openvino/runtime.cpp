// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/runtime.h"

#include <dlfcn.h>

#include <mutex>
#include <openvino/core/log.hpp>
#include <openvino/core/version.hpp>

#include "backends/common/log_hosts.h"

namespace modelrun::openvino {
namespace {

modelrun_log_level level_of(std::string_view line) noexcept {
  if (line.find("[ERROR]") != line.npos) return MODELRUN_LOG_ERROR;
  if (line.find("[WARN") != line.npos) return MODELRUN_LOG_WARNING;
  if (line.find("[INFO]") != line.npos) return MODELRUN_LOG_INFO;
  return MODELRUN_LOG_DEBUG;
}

std::string library_file() {
  Dl_info info{};
  const auto* address =
      reinterpret_cast<const void*>(&ov::get_openvino_version);
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

/// Whether a line of a message only says where in the sources it was thrown.
bool is_place(std::string_view line) noexcept {
  return line.starts_with("Exception from ") || line.empty();
}

}  // namespace

Runtime::Runtime() : path_(library_file()) {
  static std::once_flag relayed;
  std::call_once(relayed, [] {
    ov::util::set_log_callback([](std::string_view line) {
      plugin::log_to_host(level_of(line), line);
    });
  });
  const std::string build = ov::get_openvino_version().buildNumber;
  version_ = build.substr(0, build.find('-'));
}

std::string words_of(const std::exception& exception) {
  std::string_view left = exception.what();
  std::string words;
  while (!left.empty()) {
    const auto end = left.find('\n');
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(end == left.npos ? left.size() : end + 1);
    if (is_place(line)) continue;
    words.append(words.empty() ? "" : " ").append(line);
  }
  return words.empty() ? exception.what() : words;
}

}  // namespace modelrun::openvino
