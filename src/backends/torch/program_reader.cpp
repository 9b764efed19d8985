// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/program_reader.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "artifact/printable.h"
#include "backends/torch/element_type.h"
#include "backends/torch/expression.h"
#include "backends/torch/fields.h"
#include "backends/torch/graph_reader.h"
#include "backends/torch/written_memory.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

/// The schema that torch 2.6 and later write; a minor one only adds.
constexpr std::int64_t kSchemaMajor = 8;

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

c10::IValue value_of_json(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return {};
}

/// The value of a `ConstantValue`, or of an argument that is a constant.
Json plain_constant(const Tagged& argument) {
  return argument.kind == "as_none" ? Json(nullptr) : argument.value;
}

bool is_constant_kind(std::string_view kind) {
  return kind == "as_none" || kind == "as_int" || kind == "as_float" ||
         kind == "as_bool" || kind == "as_string";
}

class Reader {
 public:
  Reader(const Archive& archive, c10::Device device,
         const std::map<std::size_t, Json>& in_constants)
      : archive_(archive),
        file_(archive.only_json("models")),
        device_(device),
        in_constants_(in_constants),
        is_compiled_(archive.holds_compiled_code()),
        json_(parse_json(archive.text(file_), archive.file() + ": " + file_)) {}

  Program read() {
    try {
      check_version();
      const Json& module = member(json_, "graph_module");
      read_values(member(module, "graph"));
      const Json& signature = member(module, "signature");
      read_inputs(list_of(signature, "input_specs"));
      read_outputs(list_of(signature, "output_specs"));
      find_written();
      read_guards(module);
      read_bounds();
      return std::move(program_);
    } catch (const Unsupported& error) {
      throw Unsupported(archive_.file() + ": " + file_ + ": " + error.what());
    } catch (const InvalidArgument& error) {
      const std::string_view text = error.what();
      if (text.starts_with(archive_.file())) throw;
      throw InvalidArgument(archive_.file() + ": " + file_ + ": " +
                            error.what());
    }
  }

 private:
  void check_version() {
    const Json& version = member(json_, "schema_version");
    const std::int64_t major = json_integer(member(version, "major"), "major");
    if (const Json* torch = optional_member(json_, "torch_version")) {
      program_.torch_version = json_string(*torch, "torch_version");
    }
    if (major != kSchemaMajor) {
      throw Unsupported("it is of schema " + std::to_string(major) +
                        ", written by torch " +
                        printable(program_.torch_version) + ", expected " +
                        std::to_string(kSchemaMajor) +
                        ": export the model again with a torch whose schema "
                        "is that one, such as 2.15");
    }
    if (archive_.contains("byteorder") &&
        archive_.text("byteorder") != "little") {
      throw Unsupported("its weights are not in little-endian order");
    }
  }

  void read_values(const Json& graph) {
    auto [read, slots] = read_graph(graph, device_);
    program_.graph = std::move(read);
    slots_ = std::move(slots);
    for (const auto& [name, value] :
         json_object(member(graph, "tensor_values"), "tensor_values")) {
      tensors_.emplace(name, &value);
    }
  }

  void read_inputs(const Json::array_t& specs) {
    const std::string name =
        file_.substr(7, file_.size() - 7 - std::string_view(".json").size());
    std::optional<WeightTables> tables;
    if (!is_compiled_) tables.emplace(archive_, name);
    std::size_t leaf = 0;
    for (const Json& spec : specs) {
      const auto [kind, value] = tagged(spec, "input_specs");
      if (kind == "parameter" || kind == "buffer" ||
          kind == "tensor_constant") {
        add_weight(value, tables ? tables->find(
                                       text_of(value, (kind + "_name").c_str()))
                                 : StoredTensor());
      } else if (kind == "user_input") {
        add_input(leaf++, tagged(member(value, "arg"), "arg"));
      } else if (kind == "constant_input") {
        add_constant(leaf++, text_of(value, "name"),
                     plain_constant(tagged(member(value, "value"), "value")));
      } else {
        throw Unsupported("an input of kind " + printable(kind) +
                          " cannot be given outside of Python");
      }
    }
    for (const auto& [position, value] : in_constants_) {
      if (position < leaf) continue;
      throw InvalidArgument("in_constants gives input " +
                            std::to_string(position) + ", the program has " +
                            std::to_string(leaf));
    }
  }

  void add_weight(const Json& spec, StoredTensor stored) {
    const int slot = slots_.use(text_of(member(spec, "arg"), "name"));
    if (is_compiled_) {
      program_.weights.push_back({.slot = slot, .stored = {}, .tensor = {}});
      return;
    }
    const auto bytes = archive_.record(stored.record);
    // The mapping is read only: what is written is copied before.
    auto* data = const_cast<std::uint8_t*>(bytes.data());
    at::Tensor tensor = stored.over(data, [](void*) {});
    const auto address =
        reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
    if (address % c10::elementSize(stored.type) != 0) tensor = tensor.clone();
    program_.weights.push_back({.slot = slot,
                                .stored = std::move(stored),
                                .tensor = std::move(tensor)});
  }

  void add_input(std::size_t leaf, const Tagged& argument) {
    if (is_constant_kind(argument.kind)) {
      add_constant(leaf, "#" + std::to_string(leaf), plain_constant(argument));
      return;
    }
    const bool is_tensor = argument.kind == "as_tensor";
    if (!is_tensor && !argument.kind.starts_with("as_sym_")) {
      throw Unsupported("input " + std::to_string(leaf) + " is of kind " +
                        printable(argument.kind) +
                        ", which cannot be given outside of Python");
    }
    if (!is_tensor && is_compiled_) {
      throw Unsupported("input " + std::to_string(leaf) +
                        " is a number, and compiled code takes tensors only: "
                        "run the export that it was compiled from");
    }
    const std::string& name =
        text_of(argument.value, is_tensor ? "name" : "as_name");
    const int slot = slots_.use(name);
    const auto given = in_constants_.find(leaf);
    if (!is_tensor && given != in_constants_.end()) {
      const c10::IValue value = value_of_json(given->second);
      program_.constants.push_back({slot, value});
      program_.constant_of_leaf[leaf] = value;
      return;
    }
    ProgramInput input{.port = port_of(leaf, argument, name),
                       .slot = slot,
                       .is_number = !is_tensor};
    program_.input_of_leaf[leaf] = program_.inputs.size();
    program_.inputs.push_back(std::move(input));
  }

  void add_constant(std::size_t leaf, const std::string& name,
                    const Json& value) {
    const auto given = in_constants_.find(leaf);
    if (given != in_constants_.end() && given->second != value) {
      throw InvalidArgument("input " + std::to_string(leaf) + " (" +
                            printable(name) + ") is " + dumped(given->second) +
                            " in in_constants, but the program was made for " +
                            dumped(value) + " alone");
    }
    program_.constant_of_leaf[leaf] = value_of_json(value);
  }

  PortSpec port_of(std::size_t position, const Tagged& argument,
                   const std::string& name) {
    PortSpec port;
    port.name = "#" + std::to_string(position);
    port.recorded = name;
    if (argument.kind != "as_tensor") {
      port.type = argument.kind == "as_sym_int"     ? c10::kLong
                  : argument.kind == "as_sym_float" ? c10::kDouble
                                                    : c10::kBool;
      return port;
    }
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      throw InvalidArgument("tensor_values has no " + printable(name));
    }
    const Json& meta = *found->second;
    port.type = recorded_type(json_integer(member(meta, "dtype"), "dtype"));
    if (!to_dlpack(port.type)) {
      throw Unsupported("port '" + port.name + "' (" + printable(name) +
                        ") is of " + type_name(port.type) +
                        ", which modelrun has no type for");
    }
    for (const Json& size : list_of(meta, "sizes")) {
      const auto [kind, value] = tagged(size, "sizes");
      const bool is_number = kind == "as_int";
      const std::int64_t dim = is_number ? json_integer(value, "as_int") : -1;
      if (dim < 0 && is_number) fail_json("sizes", "0 or more", value);
      port.dims.push_back(dim);
      port.symbols.push_back(
          is_number ? "" : readable_expression(text_of(value, "expr_str")));
    }
    return port;
  }

  void read_outputs(const Json::array_t& specs) {
    const std::vector<Element>& elements = program_.graph.outputs;
    if (specs.size() != elements.size()) {
      throw InvalidArgument("output_specs has " + std::to_string(specs.size()) +
                            " entries, the graph " +
                            std::to_string(elements.size()) + " outputs");
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const auto [kind, value] = tagged(specs[i], "output_specs");
      if (kind == "user_output") {
        add_output(tagged(member(value, "arg"), "arg"), elements[i]);
      } else if (kind == "buffer_mutation") {
        refuse_compiled_state();
      } else if (kind != "user_input_mutation") {
        // What a run leaves in an input is not handed out.
        throw Unsupported("an output of kind " + printable(kind) +
                          " is one of training: export the model for "
                          "inference");
      }
    }
  }

  void add_output(const Tagged& argument, const Element& element) {
    ProgramOutput output;
    output.element = element;
    if (is_constant_kind(argument.kind)) {
      output.port.name = "#" + std::to_string(program_.outputs.size());
      output.constant = dumped(plain_constant(argument));
    } else if (argument.kind == "as_tensor") {
      output.port = port_of(program_.outputs.size(), argument,
                            text_of(argument.value, "name"));
    } else if (argument.kind.starts_with("as_sym_")) {
      // A size may be written as the number that it always is.
      if (element.slot == kNoSlot) {
        output.port.name = "#" + std::to_string(program_.outputs.size());
        const Tagged held = tagged(argument.value, "arg");
        output.constant = dumped(held.value);
      } else {
        output.port = port_of(program_.outputs.size(), argument,
                              text_of(argument.value, "as_name"));
        output.is_number = true;
      }
    } else {
      throw Unsupported("an output of kind " + printable(argument.kind) +
                        " cannot be returned outside of Python");
    }
    program_.outputs.push_back(std::move(output));
  }

  void find_written() {
    const std::vector<bool> written = find_written_memory(program_.graph);
    std::vector<bool> is_weight(program_.graph.slot_count, false);
    for (const ProgramWeight& weight : program_.weights) {
      const auto slot = static_cast<std::size_t>(weight.slot);
      is_weight[slot] = true;
      if (written[slot]) add_written(weight.stored.record);
    }
    for (ProgramInput& input : program_.inputs) {
      input.is_written = written[static_cast<std::size_t>(input.slot)];
    }
    // Weights stay in their slots from run to run.
    for (Node& node : program_.graph.nodes) {
      std::erase_if(node.dead, [&](int slot) {
        return is_weight[static_cast<std::size_t>(slot)];
      });
    }
  }

  /// Compiled code keeps what a run leaves in a buffer, for all that follow.
  void refuse_compiled_state() const {
    if (!is_compiled_) return;
    throw Unsupported(
        "it changes a buffer, and its compiled code would carry that over from "
        "one call to another: run the export that it was compiled from");
  }

  /// Tied weights are of one record: what writes one writes all.
  void add_written(const std::string& record) {
    refuse_compiled_state();
    for (const WrittenRecord& known : program_.written) {
      if (program_.weights[known.weights[0]].stored.record == record) return;
    }
    WrittenRecord written{.bytes = archive_.record(record), .weights = {}};
    for (std::size_t i = 0; i < program_.weights.size(); ++i) {
      if (program_.weights[i].stored.record == record) {
        written.weights.push_back(i);
      }
    }
    program_.written.push_back(std::move(written));
  }

  void read_guards(const Json& module) {
    const Json* guards = optional_member(json_, "guards_code");
    if (guards == nullptr) return;
    const Json::array_t& calls = list_of(module, "module_call_graph");
    if (calls.empty()) return;
    const Json& signature = member(calls[0], "signature");
    std::vector<std::string> names;
    if (const Json* list = optional_member(signature, "forward_arg_names")) {
      for (const Json& name : json_array(*list, "forward_arg_names")) {
        names.push_back(json_string(name, "forward_arg_names"));
      }
    }
    const LeafLookup leaves(text_of(signature, "in_spec"), std::move(names));
    for (const Json& guard : json_array(*guards, "guards_code")) {
      const std::string& text = json_string(guard, "guards_code");
      auto read = GuardExpression::parse(text, leaves);
      if (read && can_look_up(*read)) {
        program_.guards.push_back(*std::move(read));
      } else {
        program_.unread_guards.push_back(text);
      }
    }
  }

  bool can_look_up(const GuardExpression& guard) const {
    return std::all_of(
        guard.references().begin(), guard.references().end(),
        [this](const GuardExpression::Reference& reference) {
          const auto input = program_.input_of_leaf.find(reference.leaf);
          if (input == program_.input_of_leaf.end()) {
            return !reference.axis &&
                   program_.constant_of_leaf.contains(reference.leaf);
          }
          const PortSpec& port = program_.inputs[input->second].port;
          return reference.axis && *reference.axis >= 0 &&
                 static_cast<std::size_t>(*reference.axis) < port.dims.size();
        });
  }

  /// Whether a guard reckons with the size: its minimum is then torch's own
  /// arithmetic on the 2 that it takes every size to be at least.
  bool is_derived(std::size_t input, std::size_t axis) const {
    for (const GuardExpression& guard : program_.guards) {
      if (guard.is_plain_equality()) continue;
      for (const auto& reference : guard.references()) {
        const auto found = program_.input_of_leaf.find(reference.leaf);
        if (found != program_.input_of_leaf.end() && found->second == input &&
            reference.axis == static_cast<std::int64_t>(axis)) {
          return true;
        }
      }
    }
    return false;
  }

  void read_bounds() {
    const Json* constraints = optional_member(json_, "range_constraints");
    if (constraints == nullptr) return;
    const Json::object_t& ranges =
        json_object(*constraints, "range_constraints");
    const auto limit = [](const Json& range, const char* key) {
      std::optional<std::int64_t> value;
      if (const Json* found = optional_member(range, key)) {
        value = json_integer(*found, key);
      }
      return value;
    };
    for (std::size_t input = 0; input < program_.inputs.size(); ++input) {
      const PortSpec& port = program_.inputs[input].port;
      for (std::size_t axis = 0; axis < port.symbols.size(); ++axis) {
        const Json* range = json_find(ranges, port.symbols[axis]);
        if (port.symbols[axis].empty() || range == nullptr) continue;
        SizeBound bound{.input = input,
                        .axis = axis,
                        .minimum = limit(*range, "min_val"),
                        .maximum = limit(*range, "max_val")};
        if (bound.minimum.value_or(0) <= 2 || is_derived(input, axis)) {
          bound.minimum.reset();
        }
        if (bound.minimum || bound.maximum) program_.bounds.push_back(bound);
      }
    }
  }

  const Archive& archive_;
  std::string file_;
  c10::Device device_;
  const std::map<std::size_t, Json>& in_constants_;
  /// The weights are in the compiled code then, not in the archive.
  bool is_compiled_;
  Json json_;
  Program program_;
  Slots slots_;
  std::unordered_map<std::string_view, const Json*> tensors_;
};

}  // namespace

Program read_program(const Archive& archive, c10::Device device,
                     const std::map<std::size_t, Json>& in_constants) {
  return Reader(archive, device, in_constants).read();
}

}  // namespace modelrun::torch
