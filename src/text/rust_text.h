// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "text/rust_api.h"

namespace modelrun::detail {

/// A text that the Rust library fills and this object frees.
class RustText {
 public:
  RustText() = default;
  RustText(const RustText&) = delete;
  RustText& operator=(const RustText&) = delete;
  ~RustText() { modelrun_rust_text_destroy(text_); }

  [[nodiscard]] modelrun_rust_text* out() noexcept { return &text_; }
  [[nodiscard]] std::string string() const {
    return text_.size == 0 ? std::string()
                           : std::string(text_.data, text_.size);
  }

 private:
  modelrun_rust_text text_{};
};

[[nodiscard]] inline modelrun_rust_bytes rust_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Throws when a call of the Rust library did not succeed; `what` begins the
/// message, such as "cannot encode the texts".
void check_rust(modelrun_rust_status status, std::string_view what,
                const RustText& error);

}  // namespace modelrun::detail
