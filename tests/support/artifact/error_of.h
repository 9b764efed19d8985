// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace modelrun::testing {

/// The message of the `Kind` that `call` throws; another text when it throws
/// nothing. Other exceptions pass.
template <typename Kind, typename Call>
std::string error_of(Call&& call) {
  try {
    static_cast<void>(std::forward<Call>(call)());
  } catch (const Kind& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace modelrun::testing
