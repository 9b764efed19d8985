// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace modelrun {

/// The root of everything that modelrun throws.
///
/// A message says what failed, on what name, what was expected, what came,
/// and how to fix it. The kind is the type: catch the narrowest that you can
/// handle.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value, option or file content that the call cannot accept.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file, component, key, backend or runtime that is not there.
class NotFound : public Error {
 public:
  using Error::Error;
};

/// Something legal that this build, backend or runtime cannot do.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A failure inside a runtime, with the runtime's own words.
class BackendError : public Error {
 public:
  using Error::Error;
};

}  // namespace modelrun
