// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/error_words.h"

#include <charconv>
#include <cstdint>

#include "backends/executorch/api.h"

namespace modelrun::executorch {
namespace {

constexpr std::string_view kUnknown = "unknown error";

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

/// The runtime logs its codes as numbers: "failed: 0x12" becomes words.
std::string with_words(const std::string& text) {
  std::string result;
  std::size_t from = 0;
  for (auto at = text.find("0x"); at != text.npos; at = text.find("0x", from)) {
    const char* const digits = text.data() + at + 2;
    std::uint32_t code = 0;
    const auto end =
        std::from_chars(digits, text.data() + text.size(), code, 16).ptr;
    const auto words = words_of(static_cast<et::Error>(code));
    const auto next = static_cast<std::size_t>(end - text.data());
    const bool is_known = end != digits && code != 0 && words != kUnknown;
    result.append(text, from, at - from);
    result.append(is_known ? words : text.substr(at, next - at));
    from = next;
  }
  return result.append(text, from);
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
  return kUnknown;
}

void fail(et::Error error, std::string_view doing, LogCapture& log) {
  std::string message(doing);
  message.append(": ").append(words_of(error));
  const std::string said = with_words(log.take());
  if (!said.empty()) message.append(" (ExecuTorch: ").append(said).append(")");
  throw Failure(status_of(error), std::move(message));
}

}  // namespace modelrun::executorch
