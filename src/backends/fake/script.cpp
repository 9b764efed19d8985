// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "backends/common/failure.h"
#include "element.h"

namespace modelrun::fake {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& field, const std::string& why) {
  throw plugin::Failure(MODELRUN_INVALID_ARGUMENT,
                        "fake program: '" + field + "' " + why);
}

void check_keys(const Json& object, const std::string& field,
                std::initializer_list<std::string_view> known) {
  if (!object.is_object()) refuse(field, "is not an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      refuse(field + '.' + key, "is not a known field");
    }
  }
}

const Json& list_in(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const auto found = object.find(key);
  if (found == object.end()) return empty;
  if (!found->is_array()) refuse(key, "is not a list");
  return *found;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    refuse(key, "is not a string");
  }
  return found->get<std::string>();
}

/// Pointers for the C struct; the port must not move its strings after.
std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) {
    result.push_back(text.empty() ? nullptr : text.c_str());
  }
  return result;
}

std::optional<std::vector<std::int64_t>> dims_in(const Json& port,
                                                 const std::string& name) {
  const auto found = port.find("dims");
  if (found != port.end() && found->is_null()) return std::nullopt;
  if (found == port.end() || !found->is_array()) {
    refuse(name + ".dims", "is not a list of numbers or null");
  }
  return found->get<std::vector<std::int64_t>>();
}

void read_port(const Json& json, ScriptPort& port) {
  check_keys(json, "port",
             {"name", "dtype", "dims", "symbols", "aliases", "from", "state",
              "sum", "fill", "values", "append", "axis", "number"});
  port.name = text_in(json, "name");
  const auto dtype = dtype_from_name(text_in(json, "dtype"));
  if (!dtype) refuse(port.name + ".dtype", "is not a dtype");
  port.dtype = *dtype;
  port.dims = dims_in(json, port.name);
  for (const Json& symbol : list_in(json, "symbols")) {
    port.symbols.push_back(symbol.is_string() ? symbol.get<std::string>() : "");
  }
  if (port.dims && !port.symbols.empty() &&
      port.symbols.size() != port.dims->size()) {
    refuse(port.name + ".symbols", "is not one for each dimension");
  }
  for (const Json& alias : list_in(json, "aliases")) {
    port.aliases.push_back(alias.get<std::string>());
  }
  port.is_number = json.value("number", false);
}

std::vector<ScriptPort> read_ports(const Json& program, const char* key) {
  const Json& list = list_in(program, key);
  std::vector<ScriptPort> ports(list.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    read_port(list[i], ports[i]);
    ports[i].symbol_pointers = pointers(ports[i].symbols);
    ports[i].alias_pointers = pointers(ports[i].aliases);
  }
  return ports;
}

/// Reads the `outputs` and `states` of one program into sources.
class SourceReader {
 public:
  explicit SourceReader(const Script& script) : script_(script) {}

  Source output(const Json& json, const ScriptPort& port) const {
    Source source;
    if (json.contains("from")) {
      source.kind = Source::Kind::input;
      source.a = index_of(script_.inputs, text_in(json, "from"), port);
    } else if (json.contains("state")) {
      source.kind = Source::Kind::state;
      source.a = index_of(script_.states, text_in(json, "state"), port);
    } else if (json.contains("sum")) {
      sum(json, port, source);
    } else if (json.contains("values")) {
      values(json["values"], port, source);
    } else {
      fill(json, port, source);
    }
    return source;
  }

  Source state(const Json& json, const ScriptPort& port) const {
    Source source;
    if (json.contains("from")) {
      source.kind = Source::Kind::input;
      source.a = index_of(script_.inputs, text_in(json, "from"), port);
    } else if (json.contains("append")) {
      source.kind = Source::Kind::append;
      source.a = index_of(script_.inputs, text_in(json, "append"), port);
      source.axis = json.value("axis", std::size_t{0});
      if (port.dtype.bits < 8) refuse(port.name, "cannot append packed types");
    }
    return source;
  }

 private:
  static std::size_t index_of(const std::vector<ScriptPort>& ports,
                              const std::string& name, const ScriptPort& to) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name != name) continue;
      if (!same(ports[i].dtype, to.dtype)) {
        refuse(to.name, "has another dtype than '" + name + "'");
      }
      return i;
    }
    refuse(to.name, "takes from '" + name + "', which is not there");
  }

  static void check_arithmetic(const ScriptPort& port) {
    if (!has_arithmetic(port.dtype)) refuse(port.name, "has no arithmetic");
  }

  void sum(const Json& json, const ScriptPort& port, Source& source) const {
    check_arithmetic(port);
    const Json& names = json["sum"];
    if (!names.is_array() || names.size() != 2) {
      refuse(port.name + ".sum", "is not a list of two inputs");
    }
    source.kind = Source::Kind::sum;
    source.a = index_of(script_.inputs, names[0].get<std::string>(), port);
    source.b = index_of(script_.inputs, names[1].get<std::string>(), port);
  }

  static void values(const Json& list, const ScriptPort& port, Source& source) {
    check_arithmetic(port);
    source.kind = Source::Kind::values;
    std::size_t count = 1;
    for (const Source::Size& size : source.sizes = fixed_sizes(port)) {
      count *= static_cast<std::size_t>(size.fixed);
    }
    if (!list.is_array() || list.size() != count) {
      refuse(port.name + ".values", "is not one number for each element");
    }
    const std::size_t width = port.dtype.bits / 8;
    source.bytes.resize(count * width);
    for (std::size_t i = 0; i < count; ++i) {
      store_number(port.dtype, list[i].get<double>(),
                   source.bytes.data() + i * width);
    }
  }

  static std::vector<Source::Size> fixed_sizes(const ScriptPort& port) {
    std::vector<Source::Size> sizes;
    if (!port.dims) refuse(port.name, "needs fixed dims");
    for (const std::int64_t dim : *port.dims) {
      if (dim < 0) refuse(port.name, "needs fixed dims");
      sizes.push_back({.input = -1, .axis = 0, .fixed = dim});
    }
    return sizes;
  }

  void fill(const Json& json, const ScriptPort& port, Source& source) const {
    if (json.contains("fill")) {
      check_arithmetic(port);
      source.kind = Source::Kind::fill;
      source.bytes.resize(port.dtype.bits / 8);
      store_number(port.dtype, json["fill"].get<double>(), source.bytes.data());
    }
    if (!port.dims) refuse(port.name, "needs dims or a source");
    for (std::size_t axis = 0; axis < port.dims->size(); ++axis) {
      source.sizes.push_back(size_of(port, axis));
    }
  }

  Source::Size size_of(const ScriptPort& port, std::size_t axis) const {
    const std::int64_t dim = (*port.dims)[axis];
    if (dim >= 0) return {.input = -1, .axis = 0, .fixed = dim};
    const std::string symbol =
        axis < port.symbols.size() ? port.symbols[axis] : "";
    for (std::size_t i = 0; i < script_.inputs.size() && !symbol.empty(); ++i) {
      const auto& symbols = script_.inputs[i].symbols;
      const auto found = std::find(symbols.begin(), symbols.end(), symbol);
      if (found != symbols.end()) {
        return {.input = static_cast<int>(i),
                .axis = static_cast<std::size_t>(found - symbols.begin()),
                .fixed = 0};
      }
    }
    refuse(port.name, "has a dynamic axis that no input's symbol gives");
  }

  const Script& script_;
};

modelrun_status status_of(const std::string& name) {
  if (name == "invalid_argument") return MODELRUN_INVALID_ARGUMENT;
  if (name == "not_found") return MODELRUN_NOT_FOUND;
  if (name == "unsupported") return MODELRUN_UNSUPPORTED;
  if (name == "backend_error") return MODELRUN_BACKEND_ERROR;
  refuse("fail.status", "is not a kind of error");
}

ScriptFailure read_failure(const Json& json) {
  check_keys(json, "fail", {"at", "status", "message", "times"});
  ScriptFailure failure;
  failure.at = text_in(json, "at");
  failure.status = status_of(json.value("status", "backend_error"));
  failure.message = json.value("message", "");
  failure.times = json.value("times", -1);
  return failure;
}

Script read_script(const Json& json) {
  check_keys(json, "program",
             {"inputs", "outputs", "states", "options", "fail", "delay_ms",
              "wait_for_cancel"});
  Script script;
  script.inputs = read_ports(json, "inputs");
  script.states = read_ports(json, "states");
  script.outputs = read_ports(json, "outputs");
  const SourceReader reader(script);
  for (std::size_t i = 0; i < script.outputs.size(); ++i) {
    script.output_sources.push_back(
        reader.output(json["outputs"][i], script.outputs[i]));
  }
  for (std::size_t i = 0; i < script.states.size(); ++i) {
    script.state_sources.push_back(
        reader.state(json["states"][i], script.states[i]));
  }
  for (const Json& option : list_in(json, "options")) {
    script.options.push_back(option.get<std::string>());
  }
  if (json.contains("fail")) script.failure = read_failure(json["fail"]);
  script.delay = std::chrono::milliseconds(json.value("delay_ms", 0));
  script.wait_for_cancel = json.value("wait_for_cancel", false);
  return script;
}

}  // namespace

Script load_script(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw plugin::Failure(
        MODELRUN_NOT_FOUND,
        "fake program " + std::string(path) + " cannot be read");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  try {
    return read_script(Json::parse(text));
  } catch (const Json::exception& error) {
    throw plugin::Failure(
        MODELRUN_INVALID_ARGUMENT,
        "fake program " + std::string(path) + ": " + error.what());
  }
}

std::size_t byte_size(DLDataType dtype, std::int64_t elements) {
  return (static_cast<std::size_t>(elements) * dtype.bits * dtype.lanes + 7) /
         8;
}

}  // namespace modelrun::fake
