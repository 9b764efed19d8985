// SPDX-License-Identifier: Apache-2.0
#include "artifact/pytree_context.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

using Entries = std::vector<Structure::Entry>;

// One object of a context: its tag, and its fields by name.
class TaggedNode {
 public:
  TaggedNode(const Json::object_t& fields, const std::string& tag,
             const std::string& at)
      : fields_(fields), tag_(tag), at_(at) {}

  const Json& field(std::string_view key) const {
    const Json* found = json_find(fields_, key);
    if (found == nullptr) {
      throw InvalidArgument(at_ + ": a node tagged " + printable(tag_) +
                            " lacks its field '" + std::string(key) + "'");
    }
    return *found;
  }
  const std::string& text(std::string_view key) const {
    return json_string(field(key), below(at_, key));
  }
  const Json::object_t& object(std::string_view key) const {
    return json_object(field(key), below(at_, key));
  }
  const Json::array_t& array(std::string_view key) const {
    return json_array(field(key), below(at_, key));
  }

 private:
  const Json::object_t& fields_;
  const std::string& tag_;
  const std::string& at_;
};

class Reader {
 public:
  Reader(std::vector<Structure> children, NodeBudget& budget)
      : budget_(budget) {
    for (Structure& child : children) slots_.emplace_back(std::move(child));
  }

  Structure read(const Json& value, const std::string& at) {
    budget_.take();
    if (value.is_array()) {
      return Structure::list(items(json_array(value, at), at));
    }
    if (!value.is_object()) return Structure::constant(json_scalar(value, at));
    const Json::object_t& fields = json_object(value, at);
    const Json* tag = json_find(fields, "_t");
    if (tag == nullptr) return Structure::dict(entries(fields, at));
    return tagged(json_string(*tag, at + "._t"), fields, at);
  }

  void check_all_placed(const std::string& at) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i]) continue;
      throw InvalidArgument(at + ": does not say where tensor " +
                            std::to_string(i) + " of " +
                            std::to_string(slots_.size()) + " belongs");
    }
  }

 private:
  Structure tagged(const std::string& tag, const Json::object_t& fields,
                   const std::string& at) {
    const TaggedNode node(fields, tag, at);
    if (tag == "tensor") return take_slot(node.field("i"), at);
    if (tag == "sym") return as_number(take_slot(node.field("i"), at));
    if (tag == "obj") {
      return Structure::object(dotted(node.text("p")),
                               entries(node.object("s"), at + ".s"));
    }
    if (tag == "map") {
      return Structure::dict(entries(node.object("v"), at + ".v"),
                             dotted(node.text("p")));
    }
    if (tag == "seq") {
      return Structure::tuple(items(node.array("v"), at + ".v"),
                              dotted(node.text("p")));
    }
    if (tag == "size") {
      return Structure::tuple(items(node.array("v"), at + ".v"), "torch.Size");
    }
    if (tag == "items") return pairs(node.array("v"), at + ".v");
    if (tag == "dtype") return named("torch.dtype", node.text("n"));
    if (tag == "layout") return named("torch.layout", node.text("n"));
    if (tag == "device") return named("torch.device", node.text("s"));
    if (tag == "type") return named("builtins.type", dotted(node.text("p")));
    // A tag of a later exporter: an object named after it, all else below.
    Entries rest = entries(fields, at);
    std::erase_if(rest, [](const Structure::Entry& entry) {
      return entry.key == Structure::Key("_t");
    });
    return Structure::object(dotted(tag), std::move(rest));
  }

  Structure take_slot(const Json& index, const std::string& at) {
    const std::int64_t i = json_integer(index, at + ".i");
    if (i < 0 || static_cast<std::size_t>(i) >= slots_.size()) {
      throw InvalidArgument(at + ".i: tensor " + std::to_string(i) +
                            " is out of range, the node has " +
                            std::to_string(slots_.size()) + " children");
    }
    std::optional<Structure>& slot = slots_[static_cast<std::size_t>(i)];
    if (!slot) {
      throw InvalidArgument(at + ".i: tensor " + std::to_string(i) +
                            " is used twice");
    }
    Structure leaf = std::move(*slot);
    slot.reset();
    return leaf;
  }

  // What a symbol of the trace stands for is a number in each call.
  static Structure as_number(Structure slot) {
    return slot.is_leaf() ? Structure::number(slot.leaf_index())
                          : std::move(slot);
  }

  Structure named(std::string class_name, std::string name) {
    budget_.take();
    Entries entries;
    entries.push_back({"name", Structure::constant(std::move(name))});
    return Structure::object(std::move(class_name), std::move(entries));
  }

  Entries entries(const Json::object_t& fields, const std::string& at) {
    Entries read_entries;
    for (const auto& [key, value] : fields) {
      read_entries.push_back({key, read(value, below(at, key))});
    }
    return read_entries;
  }

  std::vector<Structure> items(const Json::array_t& values,
                               const std::string& at) {
    std::vector<Structure> read_items;
    for (std::size_t i = 0; i < values.size(); ++i) {
      read_items.push_back(read(values[i], at + "[" + std::to_string(i) + "]"));
    }
    return read_items;
  }

  // A dict whose keys are not all strings.
  Structure pairs(const Json::array_t& values, const std::string& at) {
    Entries read_entries;
    for (const Json& value : values) {
      const Json::array_t& pair = json_array(value, at);
      if (pair.size() != 2) fail_json(at, "pairs of a key and a value", value);
      read_entries.push_back({to_key(pair[0], at), read(pair[1], at)});
    }
    return with_keys("builtins.dict", std::move(read_entries), true, at);
  }

  std::vector<std::optional<Structure>> slots_;
  NodeBudget& budget_;
};

}  // namespace

Structure read_tagged_context(const Json& context,
                              std::vector<Structure> children,
                              const std::string& at, NodeBudget& budget) {
  for (const Structure& child : children) {
    if (child.is_leaf() || child.is_constant()) continue;
    throw InvalidArgument(
        at + ": a tagged context takes leaves only as its children");
  }
  Reader reader(std::move(children), budget);
  Structure tree = reader.read(context, at);
  reader.check_all_placed(at);
  return tree;
}

}  // namespace modelrun::detail
