// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "modelrun/error.h"
#include "modelrun/structure.h"

namespace modelrun::cli {

/// A command line that says something impossible.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Throws InvalidArgument when an argument is not UTF-8.
void check_arguments(std::span<char* const> arguments);

/// What an option's value stands for: `true`, `false`, `null`, a number, or
/// else a string.
[[nodiscard]] Scalar scalar_of(std::string_view text);

/// Bytes for people: `"1.2 MB"`.
[[nodiscard]] std::string readable_size(double bytes);

}  // namespace modelrun::cli
