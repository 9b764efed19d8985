// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "modelrun/structure.h"
#include "modelrun/value.h"
#include "runner/input_plan.h"

namespace modelrun {

/// Which tensors of a nested value go to which inputs.
struct LeafMap {
  struct Link {
    std::size_t leaf;
    std::size_t slot;
  };
  std::vector<Link> links;
  /// Leaves that the export was not traced with, by their paths.
  std::vector<std::string> dropped;
};

/// Matches the leaves of a nested kwarg with the inputs, by their paths.
///
/// Throws InvalidArgument when the value has a tensor where the model was
/// traced with none (a filled cache for a prefill), or another flag than the
/// one that is part of the program.
[[nodiscard]] LeafMap make_leaf_map(const InputPlan& plan,
                                    const KwargPlan& kwarg,
                                    const Structure& structure);

/// The leaf maps of the structures that were seen last. A cache that goes from
/// call to call has the same structure each time, and is matched once. One
/// thread at a time.
class LeafMaps {
 public:
  /// The map of `value` as `kwarg`, valid until the next call.
  const LeafMap& of(const InputPlan& plan, const KwargPlan& kwarg,
                    const Value& value);

 private:
  struct Entry {
    /// Keeps the structure alive, so that its address stays its identity.
    std::shared_ptr<const Structure> root;
    const Structure* node = nullptr;
    const KwargPlan* kwarg = nullptr;
    LeafMap map;
  };

  static constexpr std::size_t kCapacity = 8;
  std::vector<Entry> entries_;
  std::size_t oldest_ = 0;
};

}  // namespace modelrun
