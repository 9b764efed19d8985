// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/json_text.h"
#include "backends/torch/archive.h"

namespace modelrun::torch {

/// A parameter, buffer or constant as the archive keeps it. Tied ones are of
/// one record.
struct StoredTensor {
  std::string record;
  c10::ScalarType type = c10::ScalarType::Undefined;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;

  /// The bytes of the record that it reaches. Throws on an overflow.
  [[nodiscard]] std::uint64_t extent() const;
  /// A tensor over `bytes`, a record or a copy of one.
  [[nodiscard]] at::Tensor over(
      std::uint8_t* bytes, const std::function<void(void*)>& deleter) const;
};

/// The table of one of the archive's two folders of tensors.
class WeightTable {
 public:
  /// `kind` is "weights" or "constants".
  WeightTable(const Archive& archive, const std::string& kind,
              const std::string& program);

  /// Throws when there is none, or no plain tensor.
  [[nodiscard]] StoredTensor find(const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& name) const;

 private:
  const Archive& archive_;
  std::string folder_;
  std::string file_;
  Json json_;
};

/// Both tables: a parameter or buffer is in one, a constant in the other.
class WeightTables {
 public:
  WeightTables(const Archive& archive, const std::string& program)
      : weights_(archive, "weights", program),
        constants_(archive, "constants", program) {}

  [[nodiscard]] StoredTensor find(const std::string& name) const {
    return (weights_.contains(name) ? weights_ : constants_).find(name);
  }

 private:
  WeightTable weights_;
  WeightTable constants_;
};

}  // namespace modelrun::torch
