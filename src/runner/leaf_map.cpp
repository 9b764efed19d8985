// SPDX-License-Identifier: Apache-2.0
#include "runner/leaf_map.h"

#include <utility>
#include <variant>

#include "core/frame.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

// Walks a value's structure beside the traced one.
class Matcher {
 public:
  Matcher(const InputPlan& plan, const KwargPlan& kwarg)
      : plan_(plan), kwarg_(kwarg) {}

  void match(const Structure& node, const Structure* spec,
             const std::string& path) {
    if (node.is_number()) {
      match_number(node, path);
    } else if (node.is_leaf()) {
      match_leaf(node, spec, path);
    } else if (node.is_constant()) {
      match_constant(node, spec, path);
    }
    for (std::size_t i = 0; i < node.size(); ++i) {
      const std::string step = node.step(i);
      match(node.child(i), spec != nullptr ? spec->find(step) : nullptr,
            path + "." + step);
    }
  }

  LeafMap take() { return std::move(map_); }

 private:
  void match_leaf(const Structure& node, const Structure* spec,
                  const std::string& path) {
    if (const auto slot = plan_.find_slot(path)) {
      map_.links.push_back({node.leaf_index(), *slot});
      return;
    }
    // A traced leaf without an input is one that the program does not read.
    if (spec != nullptr && spec->is_leaf()) return;
    if (kwarg_.is_mapping && (spec == nullptr || !spec->is_constant())) {
      map_.dropped.push_back(path);
      return;
    }
    throw InvalidArgument(
        "kwarg '" + kwarg_.name + "' has a tensor at '" + path +
        "', where the model was traced with " +
        (spec != nullptr && spec->is_constant() ? to_string(spec->value())
                                                : "nothing") +
        ": this export ignores it; call the component that was traced with it");
  }

  // A counter of the call before; what a program does not take is recorded.
  void match_number(const Structure& node, const std::string& path) {
    if (const auto slot = plan_.find_slot(path)) {
      map_.links.push_back({node.leaf_index(), *slot});
    }
  }

  void match_constant(const Structure& node, const Structure* spec,
                      const std::string& path) const {
    if (spec == nullptr || !spec->is_constant()) return;
    const Scalar& traced = spec->value();
    const Scalar& given = node.value();
    // Flags choose what was traced. Counters do not, and exporters record them
    // as they were before the traced call or after it.
    const bool flags = std::holds_alternative<bool>(traced) &&
                       std::holds_alternative<bool>(given);
    if (flags && traced != given) {
      throw InvalidArgument(
          "kwarg '" + kwarg_.name + "' has " + to_string(given) + " at '" +
          path + "', but the model was traced with " + to_string(traced) +
          ", which is part of this program");
    }
  }

  const InputPlan& plan_;
  const KwargPlan& kwarg_;
  LeafMap map_;
};

}  // namespace

LeafMap make_leaf_map(const InputPlan& plan, const KwargPlan& kwarg,
                      const Structure& structure) {
  Matcher matcher(plan, kwarg);
  matcher.match(structure, kwarg.spec, kwarg.name);
  return matcher.take();
}

const LeafMap& LeafMaps::of(const InputPlan& plan, const KwargPlan& kwarg,
                            const Value& value) {
  const Structure* const node = value.structure();
  for (const Entry& entry : entries_) {
    if (entry.node == node && entry.kwarg == &kwarg) return entry.map;
  }
  Entry entry{.root = detail::Frame::of(value)->shared_structure(),
              .node = node,
              .kwarg = &kwarg,
              .map = make_leaf_map(plan, kwarg, *node)};
  if (entries_.size() < kCapacity) {
    entries_.push_back(std::move(entry));
    return entries_.back().map;
  }
  entries_[oldest_] = std::move(entry);
  const LeafMap& map = entries_[oldest_].map;
  oldest_ = (oldest_ + 1) % kCapacity;
  return map;
}

}  // namespace modelrun
