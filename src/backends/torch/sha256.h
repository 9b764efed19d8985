// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace modelrun::torch {

/// SHA-256 (FIPS 180-4) of what is added, piece by piece.
class Sha256 {
 public:
  void add(std::span<const std::uint8_t> bytes);
  /// The hash in 64 hexadecimal digits; nothing can be added after it.
  [[nodiscard]] std::string finish();

 private:
  static constexpr std::size_t kBlock = 64;

  void take_block(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                      0xa54ff53a, 0x510e527f, 0x9b05688c,
                                      0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> rest_{};
  std::uint64_t count_ = 0;
};

}  // namespace modelrun::torch
