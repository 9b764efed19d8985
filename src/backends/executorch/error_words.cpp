// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/error_words.h"

#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

modelrun_status status_of(et::Error error) noexcept {
  switch (error) {
    case et::Error::InvalidArgument:
    case et::Error::InvalidType:
      return MODELRUN_INVALID_ARGUMENT;
    case et::Error::NotSupported:
    case et::Error::NotImplemented:
    case et::Error::OperatorMissing:
    case et::Error::DelegateInvalidCompatibility:
      return MODELRUN_UNSUPPORTED;
    default:
      return MODELRUN_BACKEND_ERROR;
  }
}

}  // namespace

std::string_view words_of(et::Error error) noexcept {
  switch (error) {
    case et::Error::Ok:
      return "no error";
    case et::Error::Internal:
      return "internal error";
    case et::Error::InvalidState:
      return "the method is in a state that does not allow it";
    case et::Error::EndOfMethod:
      return "the method has ended";
    case et::Error::AlreadyLoaded:
      return "it is loaded already";
    case et::Error::NotSupported:
      return "not supported";
    case et::Error::NotImplemented:
      return "not implemented";
    case et::Error::InvalidArgument:
      return "an argument is not valid";
    case et::Error::InvalidType:
      return "a value is of the wrong type";
    case et::Error::OperatorMissing:
      return "an operator is missing";
    case et::Error::RegistrationExceedingMaxKernels:
      return "there are more kernels than the runtime has room for";
    case et::Error::RegistrationAlreadyRegistered:
      return "a kernel is registered already";
    case et::Error::NotFound:
      return "something that the program names was not found";
    case et::Error::MemoryAllocationFailed:
      return "memory could not be allocated";
    case et::Error::AccessFailed:
      return "it could not be read";
    case et::Error::InvalidProgram:
      return "the program is damaged, cut off, or no ExecuTorch program";
    case et::Error::InvalidExternalData:
      return "the program's data outside of the file is missing or damaged";
    case et::Error::OutOfResources:
      return "resources have run out";
    case et::Error::DelegateInvalidCompatibility:
      return "a delegate is too old or too new for what the program holds";
    case et::Error::DelegateMemoryAllocationFailed:
      return "a delegate could not allocate memory";
    case et::Error::DelegateInvalidHandle:
      return "a delegate was given a handle that is not valid";
  }
  return "unknown error";
}

void fail(et::Error error, std::string_view doing, LogCapture& log) {
  std::string message(doing);
  message.append(": ").append(words_of(error));
  const std::string said = log.take();
  if (!said.empty()) message.append(" (ExecuTorch: ").append(said).append(")");
  throw Failure(status_of(error), std::move(message));
}

}  // namespace modelrun::executorch
