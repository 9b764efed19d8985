// SPDX-License-Identifier: Apache-2.0
#include "artifact/pytree.h"

#include <cstdint>
#include <map>

#include "artifact/json_text.h"
#include "artifact/pytree_context.h"
#include "artifact/pytree_parts.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

constexpr std::int64_t kProtocol = 1;

using Constants = std::map<std::size_t, Scalar>;
using detail::dotted;

// Whether a context is that of transformers' exporters, which draw any object
// and write its class with a colon; of others, only names of the children are
// known.
bool is_tagged(const std::string& type, const Json& context,
               std::size_t children) {
  if (context.is_object()) {
    return context.contains("_t") || type.find(':') != std::string::npos;
  }
  if (!context.is_array() || type.find(':') == std::string::npos) return false;
  bool names = context.size() == children;
  for (const Json& key : context) names = names && key.is_string();
  return !names;
}

class Parser {
 public:
  Parser(const std::string& where, Constants constants)
      : where_(where), constants_(std::move(constants)), budget_(where) {}

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
    if (children == nullptr || !children->is_array() || children->size() != 2) {
      fail_json(where_, kExpected, pair);
    }
    const Structure args = node((*children)[0], where_ + ".children_spec[0]");
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

  Structure next_leaf() {
    const auto constant = constants_.find(leaves_++);
    if (constant != constants_.end()) {
      return Structure::constant(constant->second);
    }
    return Structure::leaf(tensors_++);
  }

  Structure node(const Json& spec, const std::string& path) {
    budget_.take();
    const Json::object_t& fields = json_object(spec, path);
    const Json* type = json_find(fields, "type");
    if (type == nullptr) fail_json(path, "a node with a type", spec);
    static const Json kNone = nullptr;
    static const Json kEmpty = Json::array();
    const Json* context = json_find(fields, "context");
    const Json* children = json_find(fields, "children_spec");
    if (context == nullptr) context = &kNone;
    const Json::array_t& items = json_array(
        children != nullptr ? *children : kEmpty, path + ".children_spec");
    if (type->is_null()) {
      if (!items.empty()) {
        fail_json(path + ".children_spec", "none below a leaf", items);
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
    if (is_tagged(type, decoded, children.size())) {
      return detail::read_tagged_context(decoded, std::move(children), at,
                                         budget_);
    }
    const Json* keys = &decoded;
    if (decoded.is_object()) {
      keys = json_find(json_object(decoded, at), "dict_context");
    }
    if (keys != nullptr && keys->is_array()) {
      return named(type, *keys, std::move(children), at);
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
    std::vector<Structure::Entry> entries;
    bool all_strings = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
      all_strings = all_strings && names[i].is_string();
      entries.push_back({detail::to_key(names[i], at), std::move(children[i])});
    }
    if (none != nullptr) {
      for (const Json& name : json_array(*none, at)) {
        budget_.take();
        entries.push_back({json_string(name, at), Structure::constant({})});
      }
    }
    return detail::with_keys(dotted(type), std::move(entries), all_strings, at);
  }

  const std::string& where_;
  const Constants constants_;
  detail::NodeBudget budget_;
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
