// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/onnx_program.h"
#include "artifact/protobuf_wire.h"

namespace modelrun {

/// What a TensorProto says of itself, its content untouched. The views point
/// into the message. Every function throws WireError for what cannot be.
class OnnxTensorScan {
 public:
  explicit OnnxTensorScan(std::span<const std::uint8_t> message);

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<std::int64_t>& dims() const noexcept {
    return dims_;
  }
  /// Whether its bytes lie in another file.
  [[nodiscard]] bool is_external() const noexcept { return external_; }
  /// The bytes that the tensor takes: by its shape, or as stored where the
  /// type has no fixed size.
  [[nodiscard]] std::uint64_t byte_size() const;
  /// Where the other file has its bytes.
  [[nodiscard]] OnnxExternalData external_data(const std::string& holder) const;
  /// Throws when its bytes lie here and are not as many as the shape needs.
  void check_content() const;
  /// The message's place, for errors.
  [[nodiscard]] const std::uint8_t* begin() const noexcept { return begin_; }

 private:
  void scan(const WireField& field);
  void scan_dims(const WireField& field);
  void scan_entry(WireReader reader);
  [[nodiscard]] std::string label() const;
  [[nodiscard]] std::optional<std::uint64_t> needed() const;
  [[nodiscard]] std::string_view entry(std::string_view key) const;

  const std::uint8_t* begin_;
  std::string_view name_;
  std::vector<std::int64_t> dims_;
  std::int64_t type_ = 0;
  bool external_ = false;
  bool raw_ = false;
  std::uint64_t stored_ = 0;
  std::map<std::string_view, std::string_view> entries_;
};

}  // namespace modelrun
