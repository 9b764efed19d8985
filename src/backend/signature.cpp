// SPDX-License-Identifier: Apache-2.0
#include "backend/signature.h"

#include "core/dlpack.h"
#include "modelrun/error.h"

namespace modelrun {

namespace {

// Far above what a program has; a larger number is a broken plugin, and
// following it would read foreign memory.
constexpr std::size_t kMaxPorts = 1'000'000;
constexpr std::size_t kMaxAliases = 1'000;
constexpr std::int32_t kMaxRank = 64;

/// Says where in a signature the reader is.
struct Place {
  const char* kind;
  std::size_t index;
  const std::string& program;
};

[[noreturn]] void refuse(const Place& place, const std::string& why) {
  throw BackendError("signature of " + place.program + ": " + place.kind + ' ' +
                     std::to_string(place.index) + ' ' + why);
}

std::string in_words(DLDataType dtype) {
  return "code " + std::to_string(dtype.code) + ", " +
         std::to_string(dtype.bits) + " bits, lanes " +
         std::to_string(dtype.lanes);
}

DType port_dtype(const modelrun_port& port, const Place& place) {
  if (const auto dtype = dtype_from_dlpack(port.dtype)) return *dtype;
  throw Unsupported(std::string(place.kind) + " '" + port.name + "' of " +
                    place.program + " has a dtype that modelrun does not know" +
                    " (DLPack " + in_words(port.dtype) + ')');
}

void copy_axes(const modelrun_port& port, const Place& place, Port& copy) {
  if (port.rank < -1 || port.rank > kMaxRank) {
    refuse(place, "has rank " + std::to_string(port.rank) +
                      ", expected -1 to " + std::to_string(kMaxRank));
  }
  copy.ranked = port.rank >= 0;
  if (port.rank <= 0) return;
  if (port.dims == nullptr) refuse(place, "has a rank and no dimensions");
  const auto rank = static_cast<std::size_t>(port.rank);
  copy.dims.assign(port.dims, port.dims + rank);
  copy.symbols.resize(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (copy.dims[axis] < -1) {
      refuse(place, "has the dimension " + std::to_string(copy.dims[axis]) +
                        " on axis " + std::to_string(axis));
    }
    if (port.symbols != nullptr && port.symbols[axis] != nullptr) {
      copy.symbols[axis] = port.symbols[axis];
    }
  }
}

Port copy_port(const modelrun_port& port, const Place& place) {
  Port copy;
  if (port.name == nullptr) refuse(place, "has no name");
  copy.name = port.name;
  if (port.alias_count > kMaxAliases ||
      (port.alias_count > 0 && port.aliases == nullptr)) {
    refuse(place,
           "says that it has " + std::to_string(port.alias_count) + " aliases");
  }
  for (std::size_t i = 0; i < port.alias_count; ++i) {
    if (port.aliases[i] == nullptr) refuse(place, "has an alias without text");
    copy.aliases.emplace_back(port.aliases[i]);
  }
  if (port.constant != nullptr) {
    copy.constant = port.constant;
    return copy;
  }
  copy.is_number = port.is_number != 0;
  copy.dtype = port_dtype(port, place);
  copy_axes(port, place, copy);
  return copy;
}

std::vector<Port> copy_ports(const modelrun_port* ports, std::size_t count,
                             std::size_t stride, Place place) {
  std::vector<Port> copies;
  if (count > kMaxPorts || (count > 0 && ports == nullptr)) {
    throw BackendError("signature of " + place.program + " says that it has " +
                       std::to_string(count) + ' ' + place.kind + "s");
  }
  copies.reserve(count);
  // A plugin built against a later header has longer ports.
  const char* at = reinterpret_cast<const char*>(ports);
  for (; place.index < count; ++place.index, at += stride) {
    copies.push_back(
        copy_port(*reinterpret_cast<const modelrun_port*>(at), place));
  }
  return copies;
}

}  // namespace

Signature copy_signature(const modelrun_signature* signature,
                         const std::string& program) {
  if (signature == nullptr) {
    throw BackendError("the plugin gave no signature of " + program);
  }
  if (signature->struct_size < sizeof(modelrun_signature) ||
      signature->port_size < sizeof(modelrun_port) ||
      signature->port_size % alignof(modelrun_port) != 0) {
    throw BackendError(
        "signature of " + program + ": expected a struct of at least " +
        std::to_string(sizeof(modelrun_signature)) + " bytes and ports of " +
        std::to_string(sizeof(modelrun_port)) + ", got " +
        std::to_string(signature->struct_size) + " and " +
        std::to_string(signature->port_size));
  }
  const std::size_t stride = signature->port_size;
  return {
      .inputs = copy_ports(signature->inputs, signature->input_count, stride,
                           {"input", 0, program}),
      .outputs = copy_ports(signature->outputs, signature->output_count, stride,
                            {"output", 0, program}),
      .states = copy_ports(signature->states, signature->state_count, stride,
                           {"state", 0, program}),
  };
}

}  // namespace modelrun
