// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <modelrun/backend.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "backends/executorch/loaded_method.h"
#include "backends/executorch/program.h"

namespace modelrun::executorch {

/// What a port's layout in the contract has no room for.
struct PortFacts {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Among the method's inputs or outputs.
  std::size_t position = 0;
  /// Whether it is a tensor, and not a number.
  bool is_tensor = true;
  /// Whether the runtime has memory of its own for it.
  bool is_planned = true;
  /// Whether the shape is fixed; else the dims are upper bounds.
  bool is_static = true;
  /// Whether an upper bound limits it.
  bool is_bounded = true;
  std::vector<std::int64_t> bounds;
  /// The bytes of a tensor of those sizes.
  std::size_t max_bytes = 0;
  /// The axes from the outermost to the innermost in memory.
  std::vector<std::uint8_t> order;
  bool is_row_major = true;
  /// An input and an output that are one value of the method: the index of the
  /// other port.
  std::size_t same_as = kNone;
};

/// The tensors that a method takes and what it returns, in the layout that the
/// contract has, named by position.
class Signature {
 public:
  /// Throws Failure on a port of a kind that cannot be passed, naming it.
  Signature(const Program& program, const LoadedMethod& method);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  [[nodiscard]] const modelrun_signature& view() const noexcept {
    return view_;
  }
  [[nodiscard]] const std::vector<modelrun_port>& inputs() const noexcept {
    return inputs_;
  }
  [[nodiscard]] const std::vector<modelrun_port>& outputs() const noexcept {
    return outputs_;
  }
  /// Parallel to `inputs` and `outputs`.
  [[nodiscard]] const std::vector<PortFacts>& input_facts() const noexcept {
    return input_facts_;
  }
  [[nodiscard]] const std::vector<PortFacts>& output_facts() const noexcept {
    return output_facts_;
  }
  /// The method's inputs that take no tensor.
  [[nodiscard]] const std::vector<std::size_t>& scalars() const noexcept {
    return scalars_;
  }

 private:
  /// What the pointers of one port point to.
  struct Storage {
    std::string name;
    std::string constant;
    std::vector<std::int64_t> dims;
  };

  void add_inputs(const Program& program, const LoadedMethod& method);
  void add_outputs(const Program& program, const LoadedMethod& method);
  void relate(const LoadedMethod& method);
  modelrun_port tensor_port(const char* kind, const et::TensorInfo& info,
                            const et::EValue& value, PortFacts& facts);
  modelrun_port value_port(const et::EValue& value, bool is_computed,
                           PortFacts& facts);
  Storage& add_storage(std::size_t position);

  std::deque<Storage> storage_;
  std::vector<modelrun_port> inputs_;
  std::vector<modelrun_port> outputs_;
  std::vector<PortFacts> input_facts_;
  std::vector<PortFacts> output_facts_;
  std::vector<std::size_t> scalars_;
  modelrun_signature view_{};
};

}  // namespace modelrun::executorch
