// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "modelrun/tensor.h"

namespace modelrun::detail {

/// What stands before the elements of a `.npy` array.
struct NpyHeader {
  DType dtype = DType::float32;
  bool fortran_order = false;
  Shape shape;
  /// Where the elements begin, and how many bytes they take.
  std::size_t offset = 0;
  std::size_t data_size = 0;
};

/// The bytes at the beginning of an array that say how long its header is.
inline constexpr std::size_t kNpyPrefix = 12;

/// The length of the header as its first `kNpyPrefix` bytes say it, those
/// included. Throws InvalidArgument that begins with `what`.
[[nodiscard]] std::size_t npy_header_length(std::string_view prefix,
                                            const std::string& what);

/// Reads a header of versions 1 to 3; `bytes` is all of it, or more. Throws
/// InvalidArgument, or Unsupported for a dtype that modelrun does not have;
/// both begin with `what`.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes,
                                         const std::string& what);

/// The header that numpy would write. Throws Unsupported, with the way out,
/// for a dtype that numpy does not have.
[[nodiscard]] std::string make_npy_header(const Tensor& tensor,
                                          const std::string& what);

}  // namespace modelrun::detail
