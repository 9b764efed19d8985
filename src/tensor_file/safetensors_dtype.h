// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "modelrun/dtype.h"

namespace modelrun::detail {

/// The dtypes by the names of the format, in the order in which the format's
/// own library writes tensors.
inline constexpr std::array<std::pair<std::string_view, DType>, 13>
    kSafetensorsDTypes = {{{"U64", DType::uint64},
                           {"I64", DType::int64},
                           {"F64", DType::float64},
                           {"F32", DType::float32},
                           {"U32", DType::uint32},
                           {"I32", DType::int32},
                           {"BF16", DType::bfloat16},
                           {"F16", DType::float16},
                           {"U16", DType::uint16},
                           {"I16", DType::int16},
                           {"I8", DType::int8},
                           {"U8", DType::uint8},
                           {"BOOL", DType::bool_}}};

/// Those that the format has and modelrun has not.
inline constexpr std::array<std::string_view, 9> kForeignSafetensorsDTypes = {
    "F4",      "F6_E2M3",     "F6_E3M2",     "F8_E4M3", "F8_E5M2",
    "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "C64"};

}  // namespace modelrun::detail
