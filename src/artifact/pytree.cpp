// SPDX-License-Identifier: Apache-2.0
#include "artifact/pytree.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "artifact/json_text.h"
#include "modelrun/error.h"
#include "artifact/printable.h"

namespace modelrun {
namespace {

constexpr std::size_t kMaxNodes = std::size_t{1} << 18;
constexpr std::int64_t kProtocol = 1;

using Entries = std::vector<Structure::Entry>;
using Constants = std::map<std::size_t, Scalar>;

// "module:Class" and "module.Class" are the same class.
std::string dotted(std::string name) {
  std::replace(name.begin(), name.end(), ':', '.');
  return name;
}

// A path for messages; a key of any length adds a little only, so that paths
// cost nothing to speak of.
std::string below(const std::string& at, std::string_view key) {
  return at + "." + std::string(key.substr(0, 64));
}

bool is_mapping_class(std::string_view name) {
  return name.starts_with("builtins.") || name.starts_with("collections.");
}

// A dict's key: what is neither a string nor an integer by its JSON text.
Structure::Key to_key(const Json& key, const std::string& where) {
  if (key.is_string()) return key.get<std::string>();
  if (key.is_boolean()) return std::int64_t{key.get<bool>()};
  if (key.is_number_integer()) return json_integer(key, where);
  if (key.is_object() && key.contains("__enum__")) {
    const Json* name = json_find(json_object(key, where), "name");
    if (name != nullptr && name->is_string()) return name->get<std::string>();
  }
  return key.dump();
}

class Parser {
 public:
  Parser(const std::string& where, Constants constants)
      : where_(where), constants_(std::move(constants)) {}

  Structure parse(std::string_view text) {
    const Json spec = parse_json(text, where_);
    Structure tree = node(root(spec), where_);
    if (!constants_.empty() && constants_.rbegin()->first >= leaves_) {
      throw InvalidArgument(
          where_ + ": has " + std::to_string(leaves_) +
          " leaves, but out_constants gives a value for leaf " +
          std::to_string(constants_.rbegin()->first));
    }
    return tree;
  }

  // The second child of tuple(args, kwargs), whose first must be empty.
  Structure parse_kwargs(std::string_view text) {
    constexpr std::string_view kExpected =
        "a tuple of an args tuple and a kwargs dict";
    const Json spec = parse_json(text, where_);
    const Json& pair = root(spec);
    const Json* children =
        json_find(json_object(pair, where_), "children_spec");
    if (children == nullptr || !children->is_array() ||
        children->size() != 2) {
      fail_json(where_, kExpected, pair);
    }
    const Structure args =
        node((*children)[0], where_ + ".children_spec[0]");
    if (args.kind() != Structure::Kind::tuple) {
      fail_json(where_, kExpected, pair);
    }
    if (args.size() != 0) {
      throw Unsupported(where_ + ": has " + std::to_string(args.size()) +
                        " positional arguments: export the model with "
                        "keyword arguments only");
    }
    Structure kwargs = node((*children)[1], where_ + ".children_spec[1]");
    if (kwargs.kind() != Structure::Kind::dict) {
      fail_json(where_, kExpected, pair);
    }
    return kwargs;
  }

 private:
  const Json& root(const Json& spec) const {
    const Json::array_t& pair = json_array(spec, where_);
    if (pair.size() != 2) {
      fail_json(where_, "an array of 2, [protocol, node]", spec);
    }
    const std::int64_t protocol = json_integer(pair[0], where_ + "[0]");
    if (protocol != kProtocol) {
      throw Unsupported(where_ + ": pytree spec protocol " +
                        std::to_string(protocol) +
                        " is not supported, only 1: update modelrun");
    }
    return pair[1];
  }

  void count_node() {
    if (++nodes_ > kMaxNodes) {
      throw InvalidArgument(where_ + ": has more than " +
                            std::to_string(kMaxNodes) + " nodes");
    }
  }

  Structure next_leaf() {
    const auto constant = constants_.find(leaves_++);
    if (constant != constants_.end()) {
      return Structure::constant(constant->second);
    }
    return Structure::leaf(tensors_++);
  }

  Structure node(const Json& spec, const std::string& path) {
    count_node();
    const Json::object_t& fields = json_object(spec, path);
    const Json* type = json_find(fields, "type");
    if (type == nullptr) fail_json(path, "a node with a type", spec);
    static const Json kNone = nullptr;
    static const Json kEmpty = Json::array();
    const Json* context = json_find(fields, "context");
    const Json* children = json_find(fields, "children_spec");
    if (context == nullptr) context = &kNone;
    const Json::array_t& items =
        json_array(children != nullptr ? *children : kEmpty,
                   path + ".children_spec");
    if (type->is_null()) {
      if (!items.empty()) {
        fail_json(path + ".children_spec", "none below a leaf", *children);
      }
      return next_leaf();
    }
    const std::string& name = json_string(*type, path + ".type");
    if (name.empty()) fail_json(path + ".type", "a class name", *type);
    std::vector<Structure> parsed;
    parsed.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      parsed.push_back(
          node(items[i], path + ".children_spec[" + std::to_string(i) + "]"));
    }
    return container(name, *context, std::move(parsed), path);
  }

  Structure container(const std::string& type, const Json& context,
                      std::vector<Structure> children,
                      const std::string& path) {
    const std::string at = path + ".context";
    if (type == "collections.namedtuple") {
      return Structure::tuple(std::move(children),
                              dotted(json_string(context, at)));
    }
    const Json decoded =
        context.is_string()
            ? parse_json(context.get_ref<const std::string&>(), at)
            : context;
    if (decoded.is_object()) {
      if (const Json* keys =
              json_find(json_object(decoded, at), "dict_context")) {
        return named(type, *keys, std::move(children), at);
      }
      return tagged_root(decoded, std::move(children), at);
    }
    if (decoded.is_array()) {
      return named(type, decoded, std::move(children), at);
    }
    const std::string name = dotted(type);
    if (name == "builtins.list" || name == "collections.deque") {
      return Structure::list(std::move(children), name);
    }
    return Structure::tuple(std::move(children), name);
  }

  // Children by their keys, in order; a dataclass gives two lists, the fields
  // that have children and those that were None.
  Structure named(const std::string& type, const Json& context,
                  std::vector<Structure> children, const std::string& at) {
    const Json* keys = &context;
    const Json* none = nullptr;
    const bool two_lists = context.is_array() && context.size() == 2 &&
                           context[0].is_array() && context[1].is_array();
    if (two_lists && context[0].size() == children.size()) {
      keys = &context[0];
      none = &context[1];
    }
    const Json::array_t& names = json_array(*keys, at);
    if (names.size() != children.size()) {
      throw InvalidArgument(at + ": names " + std::to_string(names.size()) +
                            " children, but children_spec has " +
                            std::to_string(children.size()));
    }
    Entries entries;
    bool all_strings = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
      all_strings = all_strings && names[i].is_string();
      entries.push_back({to_key(names[i], at), std::move(children[i])});
    }
    if (none != nullptr) {
      for (const Json& name : json_array(*none, at)) {
        count_node();
        entries.push_back({json_string(name, at), Structure::constant({})});
      }
    }
    return with_keys(dotted(type), std::move(entries), all_strings, at);
  }

  static Structure with_keys(std::string name, Entries entries, bool attributes,
                             const std::string& at) {
    std::vector<const Structure::Key*> keys;
    for (const Structure::Entry& entry : entries) keys.push_back(&entry.key);
    const auto less = [](auto* a, auto* b) { return *a < *b; };
    std::sort(keys.begin(), keys.end(), less);
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (*keys[i] == *keys[i - 1]) {
        throw InvalidArgument(at + ": has a key twice");
      }
    }
    if (is_mapping_class(name) || !attributes) {
      return Structure::dict(std::move(entries), std::move(name));
    }
    return Structure::object(std::move(name), std::move(entries));
  }

  Structure tagged_root(const Json& context, std::vector<Structure> children,
                        const std::string& at) {
    for (const Structure& child : children) {
      if (!child.is_leaf() && !child.is_constant()) {
        throw InvalidArgument(
            at + ": a tagged context takes leaves only as its children");
      }
    }
    std::vector<std::optional<Structure>> slots;
    for (Structure& child : children) slots.emplace_back(std::move(child));
    Structure tree = tagged(context, slots, at);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i]) {
        throw InvalidArgument(at + ": does not say where tensor " +
                              std::to_string(i) + " of " +
                              std::to_string(slots.size()) + " belongs");
      }
    }
    return tree;
  }

  using Slots = std::vector<std::optional<Structure>>;

  static Structure take_slot(const Json& index, Slots& slots,
                             const std::string& at) {
    const std::int64_t i = json_integer(index, at + ".i");
    if (i < 0 || static_cast<std::size_t>(i) >= slots.size()) {
      throw InvalidArgument(at + ".i: tensor " + std::to_string(i) +
                            " is out of range, the node has " +
                            std::to_string(slots.size()) + " children");
    }
    std::optional<Structure>& slot = slots[static_cast<std::size_t>(i)];
    if (!slot) {
      throw InvalidArgument(at + ".i: tensor " + std::to_string(i) +
                            " is used twice");
    }
    Structure leaf = std::move(*slot);
    slot.reset();
    return leaf;
  }

  Structure tagged(const Json& value, Slots& slots, const std::string& at) {
    count_node();
    if (value.is_array()) {
      return Structure::list(
          tagged_items(json_array(value, at), slots, at));
    }
    if (!value.is_object()) return Structure::constant(json_scalar(value, at));
    const Json::object_t& fields = json_object(value, at);
    const Json* tag = json_find(fields, "_t");
    if (tag == nullptr) {
      return with_keys("builtins.dict", tagged_fields(fields, slots, at), true,
                       at);
    }
    const std::string& name = json_string(*tag, at + "._t");
    const auto field = [&](std::string_view key) -> const Json& {
      const Json* found = json_find(fields, key);
      if (found == nullptr) {
        throw InvalidArgument(at + ": a node tagged " + printable(name) +
                              " lacks its field '" + std::string(key) + "'");
      }
      return *found;
    };
    const auto class_of = [&](std::string_view key) {
      return dotted(json_string(field(key), at + "." + std::string(key)));
    };
    if (name == "tensor" || name == "sym") {
      return take_slot(field("i"), slots, at);
    }
    if (name == "obj") {
      return Structure::object(
          class_of("p"),
          tagged_fields(json_object(field("s"), at + ".s"), slots, at));
    }
    if (name == "map") {
      return Structure::dict(
          tagged_fields(json_object(field("v"), at + ".v"), slots, at),
          class_of("p"));
    }
    if (name == "seq") {
      return Structure::tuple(
          tagged_items(json_array(field("v"), at + ".v"), slots, at),
          class_of("p"));
    }
    if (name == "size") {
      return Structure::tuple(
          tagged_items(json_array(field("v"), at + ".v"), slots, at),
          "torch.Size");
    }
    if (name == "items") return tagged_pairs(field("v"), slots, at + ".v");
    if (name == "dtype") return labelled("torch.dtype", class_of("n"));
    if (name == "layout") return labelled("torch.layout", class_of("n"));
    if (name == "type") return labelled("builtins.type", class_of("p"));
    if (name == "device") {
      return labelled("torch.device", json_string(field("s"), at + ".s"));
    }
    return unknown_tag(name, fields, slots, at);
  }

  Structure labelled(std::string class_name, std::string name) {
    count_node();
    Entries entries;
    entries.push_back({"name", Structure::constant(std::move(name))});
    return Structure::object(std::move(class_name), std::move(entries));
  }

  // A tag of a later exporter: an object named after it, all else below.
  Structure unknown_tag(const std::string& tag, const Json::object_t& fields,
                        Slots& slots, const std::string& at) {
    Entries entries;
    for (const auto& [key, value] : fields) {
      if (key == "_t") continue;
      entries.push_back({key, tagged(value, slots, below(at, key))});
    }
    return Structure::object(dotted(tag), std::move(entries));
  }

  Entries tagged_fields(const Json::object_t& fields, Slots& slots,
                        const std::string& at) {
    Entries entries;
    for (const auto& [key, value] : fields) {
      entries.push_back({key, tagged(value, slots, below(at, key))});
    }
    return entries;
  }

  std::vector<Structure> tagged_items(const Json::array_t& items, Slots& slots,
                                      const std::string& at) {
    std::vector<Structure> parsed;
    for (std::size_t i = 0; i < items.size(); ++i) {
      parsed.push_back(
          tagged(items[i], slots, at + "[" + std::to_string(i) + "]"));
    }
    return parsed;
  }

  // A dict whose keys are not all strings, as pairs.
  Structure tagged_pairs(const Json& pairs, Slots& slots,
                         const std::string& at) {
    Entries entries;
    for (const Json& pair : json_array(pairs, at)) {
      const Json::array_t& items = json_array(pair, at);
      if (items.size() != 2) fail_json(at, "pairs of a key and a value", pair);
      entries.push_back(
          {to_key(items[0], at), tagged(items[1], slots, at)});
    }
    return with_keys("builtins.dict", std::move(entries), true, at);
  }

  const std::string& where_;
  const Constants constants_;
  std::size_t nodes_ = 0;
  std::size_t leaves_ = 0;
  std::size_t tensors_ = 0;
};

}  // namespace

Structure parse_pytree(std::string_view text, const std::string& where) {
  return Parser(where, {}).parse(text);
}

Structure parse_in_spec(std::string_view text, const std::string& where) {
  return Parser(where, {}).parse_kwargs(text);
}

Structure parse_out_spec(
    std::string_view text,
    const std::vector<std::pair<std::size_t, Scalar>>& constants,
    const std::string& where) {
  Constants by_leaf;
  for (const auto& [index, value] : constants) {
    if (!by_leaf.emplace(index, value).second) {
      throw InvalidArgument(where + ": out_constants gives leaf " +
                            std::to_string(index) + " two values");
    }
  }
  return Parser(where, std::move(by_leaf)).parse(text);
}

}  // namespace modelrun
